// SPDX-License-Identifier: Apache-2.0
// Text to token ids and back: the byte-level BPE of Qwen, from tokenizer.json.
//
// Immutable after loading; any number of threads may encode. Ids and byte ranges are exactly those
// of Hugging Face's tokenizers, which the tests ask.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plateau::train {

struct Token {
  int64_t id = 0;
  // The bytes of the text (after NFC) that the token stands for. A token may hold part of a
  // character.
  size_t begin = 0;
  size_t end = 0;
};

enum class SpecialTokens : uint8_t {
  parse,  // "<|im_end|>" in the text is that token.
  text,   // It is characters like any others: what a user wrote must not steer the model.
};

class Tokenizer {
 public:
  static Result<Tokenizer> read(const std::filesystem::path& tokenizer_json);
  static Result<Tokenizer> parse(std::string_view json, const std::string& file);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  [[nodiscard]] std::vector<int64_t> encode(std::string_view text, SpecialTokens special) const;
  // With byte ranges, and the normalised text that they refer to.
  struct Encoded {
    std::string text;
    std::vector<Token> tokens;
  };
  [[nodiscard]] Encoded encode_with_ranges(std::string_view text, SpecialTokens special) const;

  // The bytes of the tokens, which need not be valid UTF-8. Ids that do not exist give nothing.
  [[nodiscard]] std::string decode(std::span<const int64_t> ids, bool skip_special) const;
  [[nodiscard]] std::optional<int64_t> id_of(std::string_view token) const;  // "<|im_end|>"
  [[nodiscard]] bool is_special(int64_t id) const;
  [[nodiscard]] int64_t size() const;  // Ids are below.

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace plateau::train
