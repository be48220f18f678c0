// SPDX-License-Identifier: Apache-2.0
// Which stacks the recorder has been told. A cache: a line of kWays ids per hash value, where a new
// id replaces an old one, whose stack is then sent again when it comes back. So any number of
// distinct stacks costs bandwidth, never memory. All zero is empty. Any thread, no waiting.
//
// It begins with a sixteenth of its room and takes four times as much whenever half of that has
// been used, because a forked child pays a page fault for each page that it writes to first. Who
// was told before then has another place, and is told once more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plateau::trace {

template <size_t kIds>
class SentStacks {
 public:
  [[nodiscard]] bool contains(uint64_t id) const noexcept {
    const std::atomic<uint64_t>* line = ids_ + first(id);
    for (size_t i = 0; i < kWays; ++i) {
      if (line[i].load(std::memory_order_relaxed) == id) {
        return true;
      }
    }
    return false;
  }
  void insert(uint64_t id) noexcept {
    make_room();
    std::atomic<uint64_t>* line = ids_ + first(id);
    for (size_t i = 0; i < kWays; ++i) {
      const uint64_t there = line[i].load(std::memory_order_relaxed);
      if (there == 0 || there == id) {
        line[i].store(id, std::memory_order_relaxed);
        return;
      }
    }
    // Ids are hashes: their upper bits choose a victim as well as anything.
    line[(id >> 48) % kWays].store(id, std::memory_order_relaxed);
  }

  void clear() noexcept {
    for (std::atomic<uint64_t>& id : ids_) {
      id.store(0, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr size_t kWays = 8;
  static constexpr uint32_t kMostDoublings = 4;
  static constexpr size_t kFirstLines = (kIds / kWays) >> kMostDoublings;
  static_assert(kFirstLines > 0 && kIds % kWays == 0 && (kFirstLines & (kFirstLines - 1)) == 0 &&
                kFirstLines * kWays << kMostDoublings == kIds);
  [[nodiscard]] size_t first(uint64_t id) const noexcept {
    const size_t lines = kFirstLines << doublings_.load(std::memory_order_relaxed);
    return (static_cast<size_t>((id * 0x9e3779b97f4a7c15) >> 40) & (lines - 1)) * kWays;
  }
  void make_room() noexcept {
    const uint32_t doublings = doublings_.load(std::memory_order_relaxed);
    if (doublings < kMostDoublings && inserted_.fetch_add(1, std::memory_order_relaxed) >=
                                          (kFirstLines * kWays / 2) << doublings) {
      doublings_.store(doublings + 2, std::memory_order_relaxed);
    }
  }
  alignas(64) std::atomic<uint32_t> doublings_;
  std::atomic<uint32_t> inserted_;  // Until there is all the room.
  alignas(64) std::atomic<uint64_t> ids_[kIds];
};

}  // namespace plateau::trace
