// SPDX-License-Identifier: Apache-2.0
// The sums of each site (call stack and kind of block) while a process is recorded.
//
// Site 0 is "others": what was folded, and blocks whose stack is not known. The table keeps many
// more sites than a track shows, because a site that will matter is small at first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recording/heap_track.h"

namespace plateau {

// A block of `bytes` that was sampled at a mean distance of 2^note bytes (0: always) stands for
// `blocks` such blocks, with this variance of their bytes.
struct BlockWeight {
  double blocks = 1;
  double variance = 0;
};
BlockWeight weight_of(uint64_t bytes, unsigned note);

// Of an age in steps or seconds: 0, then [1, 2), [2, 4), [4, 8) and so on.
size_t age_bucket(int64_t age);

struct WorkingSite {
  double live_bytes = 0;
  double live_blocks = 0;
  double live_variance = 0;
  double allocated_bytes = 0;
  double allocated_blocks = 0;
  uint64_t stack = 0;
  HeapKind kind = HeapKind::heap;
  int32_t first_step = -1;
  double peak_bytes = 0;
  AgeCounts freed_age{};
};

class SiteTable {
 public:
  static constexpr uint32_t kOthers = 0;
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kMaxWorkingSites = 16384;

  SiteTable();

  // kNone if there is no such site.
  [[nodiscard]] uint32_t find(uint64_t stack, HeapKind kind) const;
  // Requires that find() said kNone.
  uint32_t add(uint64_t stack, HeapKind kind, int32_t step);
  [[nodiscard]] bool full() const { return sites_.size() >= kMaxWorkingSites; }

  WorkingSite& operator[](uint32_t site) { return sites_[site]; }
  const WorkingSite& operator[](uint32_t site) const { return sites_[site]; }
  [[nodiscard]] size_t size() const { return sites_.size(); }
  [[nodiscard]] const std::vector<WorkingSite>& all() const { return sites_; }

  // Folds all but the largest quarter of the sites (by what they hold alive) into others. Returns
  // the new number of each old site; the order stays.
  std::vector<uint32_t> fold();
  [[nodiscard]] size_t folded() const { return folded_; }
  [[nodiscard]] double folded_max_bytes() const { return folded_max_bytes_; }

 private:
  struct Key {
    uint64_t stack = 0;
    uint32_t site = 0;  // kOthers: the slot is empty.
    HeapKind kind = HeapKind::heap;
  };
  [[nodiscard]] size_t place(uint64_t stack, HeapKind kind) const;
  void index(uint32_t site);

  std::vector<WorkingSite> sites_;
  std::vector<Key> keys_;
  size_t folded_ = 0;
  double folded_max_bytes_ = 0;
};

}  // namespace plateau
