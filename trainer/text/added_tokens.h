// SPDX-License-Identifier: Apache-2.0
// Finds tokens such as <|im_end|> in a text: the leftmost first, of those the longest.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trainer/text/tokenizer_tables.h"

namespace plateau::train {

// Immutable. A trie over bytes; a byte that begins no token costs one look.
class AddedTokenFinder {
 public:
  explicit AddedTokenFinder(std::span<const AddedToken> tokens);

  struct Found {
    size_t begin = 0;
    size_t end = 0;
    uint32_t id = 0;
  };
  // The first at or behind `from`; an empty one at the end of the text if there is none.
  [[nodiscard]] Found next(std::string_view text, size_t from) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Node {
    uint32_t token = kNone;  // Id, where a token ends.
    // Children are few: siblings are linked, the first here.
    uint32_t child = kNone;
    uint32_t sibling = kNone;
    char byte = 0;
  };
  [[nodiscard]] uint32_t child_of(uint32_t node, char byte) const;
  // Empty if none begins there.
  [[nodiscard]] Found longest_at(std::string_view text, size_t at) const;

  std::vector<Node> nodes_;
  std::array<bool, 256> begins_{};
};

}  // namespace plateau::train
