// SPDX-License-Identifier: Apache-2.0
// Makes a small tokenizer of Qwen's form, for models that are made and not downloaded.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plateau::train {

struct QwenToken {
  std::string_view content;
  bool is_special = true;
};

// The 22 added tokens of Qwen2.5, in the order of their ids.
const std::array<QwenToken, 22>& qwen_tokens();

// The text of a tokenizer.json with at most `vocabulary` ids: 256 bytes, then merges learned from
// `texts` (the most frequent pair first, of equals the one with lower ids), then Qwen's added
// tokens. Fewer ids where no pair is left that occurs twice. The same arguments give the same
// bytes. Errors: a vocabulary too small for bytes and added tokens.
Result<std::string> make_tokenizer_json(std::span<const std::string> texts, int64_t vocabulary);

}  // namespace plateau::train
