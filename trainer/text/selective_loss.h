// SPDX-License-Identifier: Apache-2.0
// Which tokens of an answer are not worth learning: docs/selective-loss.md.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trainer/text/conversation.h"
#include "trainer/text/tokenizer.h"

namespace plateau::train {

// For each token of `encoded`, whether `level` leaves it out of the loss. The answer is the text
// from `answer_begin` to the end; tokens that begin before it are never left out by this (they are
// no part of the loss to begin with). An answer that is no JSON document has nothing to leave out,
// except by the level compat, which does not look.
std::vector<bool> tokens_left_out(const Tokenizer::Encoded& encoded, size_t answer_begin,
                                  LossLevel level);

// Model Garden's rule for one token, decoded by itself: white space, JSON punctuation, one of 28
// JSON Schema words in it, or one of 7 type names.
bool is_left_out_by_compat(std::string_view token_bytes);

}  // namespace plateau::train
