// SPDX-License-Identifier: Apache-2.0
// A conversation, as a dataset has it, becomes token ids with labels: Qwen2.5-VL's chat template.
//
// Labels are the assistant's words and the end-of-turn after them, nothing else; text that a user
// wrote is never read as a special token. An image is a placeholder that the number of its merged
// patches repeats.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/text/tokenizer.h"

namespace plateau::train {

struct Part {
  enum class Kind : uint8_t { text, image } kind = Kind::text;
  std::string text;  // Of a text.
  size_t image = 0;  // Of an image: its index in the example.
};

struct Message {
  enum class Role : uint8_t { system, user, assistant } role = Role::user;
  std::vector<Part> parts;
};

enum class LossLevel : uint8_t {
  all,        // Every token of an answer.
  structure,  // Without the brackets, colons, commas, quotes and spaces of JSON.
  keys,       // Without its keys besides.
  literals,   // Without true, false and null besides.
  compat,     // Model Garden's word lists ("conservative"), defects included, for comparison.
};

struct EncodedExample {
  std::vector<int64_t> ids;
  std::vector<int64_t> labels;  // -100 where nothing is learned.
  int64_t labelled = 0;
};

inline constexpr int64_t kNoLabel = -100;

// `image_tokens[i]` placeholders stand for image i. Image parts name the images once each, in
// order. `is_generation` opens an assistant turn behind the messages, for the model to go on with;
// an answer that is to be predicted must not be among them. A token that holds the line end of
// "assistant" and the begin of the answer is not learned. Errors: no messages, an image that no
// part names, a part that names none, a tokenizer without the template's tokens.
Result<EncodedExample> encode_conversation(const Tokenizer& tokenizer,
                                           std::span<const Message> messages,
                                           std::span<const int64_t> image_tokens, LossLevel level,
                                           bool is_generation = false);

// The text of the template itself, with one placeholder per image: for tests and for people.
std::string conversation_text(std::span<const Message> messages, bool is_generation);

}  // namespace plateau::train
