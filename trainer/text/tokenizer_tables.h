// SPDX-License-Identifier: Apache-2.0
// What a tokenizer.json says, as tables (docs/formats/tokenizer.md).
//
// Only byte-level BPE in Qwen's form is understood. Whatever else a file asks for - another model,
// pattern, normaliser, a token that strips its neighbours - is an error that names it, because
// leaving it out would give other ids without a word.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainer/text/bpe.h"

namespace plateau::train {

// A token that is cut out of the text before anything else is done to it.
struct AddedToken {
  std::string content;
  uint32_t id = 0;
  bool is_special = false;
};

// The bytes of every token, one after another: a string each would take four times the memory.
class TokenBytes {
 public:
  // Ids must come in rising order; those left out do not exist.
  void add(uint32_t id, std::string_view bytes);
  [[nodiscard]] std::optional<std::string_view> find(int64_t id) const;
  [[nodiscard]] size_t size() const { return ends_.size(); }  // The highest id and one.

 private:
  std::string bytes_;
  std::vector<uint32_t> ends_;
  std::vector<bool> exists_;
};

struct TokenizerTables {
  TokenBytes tokens;
  std::array<uint32_t, 256> byte_ids{};
  MergeTable merges;
  std::vector<AddedToken> added;  // By id, rising.
};

// `file` is for messages.
Result<TokenizerTables> read_tokenizer_tables(std::string_view json, const std::string& file);

}  // namespace plateau::train
