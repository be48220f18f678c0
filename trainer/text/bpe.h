// SPDX-License-Identifier: Apache-2.0
// Byte-pair merges: a piece of text begins as its bytes, and the pair that comes first in the list
// of merges is joined, again and again, until no pair is in the list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trainer/text/tokenizer.h"

namespace plateau::train {

struct Merge {
  uint32_t rank = 0;  // Place in the list: the lower is merged first.
  uint32_t id = 0;    // Of the token that both become.
};

// From pairs of ids to merges. Hashed with open addressing, 16 bytes a slot: the 151,387 merges of
// Qwen2.5 take 4 MiB, and looking one up touches one line of cache.
class MergeTable {
 public:
  // Room for `expected` merges, which may not be exceeded.
  explicit MergeTable(size_t expected = 0);
  // The last one set for a pair holds.
  void set(uint32_t left, uint32_t right, Merge merge);
  [[nodiscard]] const Merge* find(uint32_t left, uint32_t right) const;

 private:
  struct Slot {
    uint32_t left = kNone;
    uint32_t right = kNone;
    Merge merge;
  };
  static constexpr uint32_t kNone = UINT32_MAX;  // No id has this value.
  [[nodiscard]] size_t slot_of(uint32_t left, uint32_t right) const;
  std::vector<Slot> slots_;
};

// Merges pieces one after another and reuses its memory. Not for several threads at once. Requires:
// `merges` and `byte_ids` outlive it.
class BpeMerger {
 public:
  BpeMerger(const MergeTable& merges, const std::array<uint32_t, 256>& byte_ids)
      : merges_(merges), byte_ids_(byte_ids) {}
  // Appends the tokens of `piece`, whose first byte is at `offset` of the text. Takes n log n time.
  void append(std::string_view piece, size_t offset, std::vector<Token>& tokens);

 private:
  static constexpr size_t kNowhere = SIZE_MAX;
  struct Symbol {
    uint32_t id = 0;
    size_t bytes = 0;  // 0: joined to the one before it.
    size_t previous = kNowhere;
    size_t next = kNowhere;
  };
  struct Candidate {
    size_t at = 0;  // The left one of the pair.
    Merge merge;
  };
  static bool comes_later(const Candidate& a, const Candidate& b);
  void consider(size_t left);
  void join(const Candidate& candidate);

  const MergeTable& merges_;
  const std::array<uint32_t, 256>& byte_ids_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> queue_;  // A heap, the next merge in front.
};

}  // namespace plateau::train
