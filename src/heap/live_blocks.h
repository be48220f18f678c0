// SPDX-License-Identifier: Apache-2.0
// Which blocks are alive: a hash table from address to block, for events that arrive out of order.
//
// The lanes of a segment are emptied one after the other, so an event may come before one that
// happened earlier on another lane. The rule: for each address the event with the newest stamp
// decides. To know it, a freed address is remembered (a grave) until everything that was published
// before the free has been read: to the end of the next full round. Worked example: alloc at 10 is
// alive; free at 40 comes, then free at 20, then alloc at 30. The free at 40 ends the block of 10
// and leaves a grave of 40; the free at 20 is older than the grave; the alloc at 30 is older too
// and does not come alive. Without the grave it would stay for ever.
// When only one lane had anything (a round that is `ordered`) no graves are made.
//
// A lost free is healed when its address is handed out again: the newer alloc replaces the block.
// A lost free of an address that is never used again stays alive; the segment counts losses.
//
// Open addressing, linear probing, erase by shifting back; 32 bytes a slot, at most 5/8 full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace plateau {

struct LiveBlock {
  uint64_t address = 0;  // 0: the slot is empty.
  uint64_t stamp = 0;
  uint64_t bytes_and_note = 0;  // 55 bits: bytes; 6: log2 of the sampling interval; 3: kind.
  uint32_t site = 0;            // kGrave: freed; the stamp is that of the free.
  int32_t step = 0;

  static constexpr uint32_t kGrave = UINT32_MAX;
  [[nodiscard]] uint64_t bytes() const { return bytes_and_note & ((uint64_t{1} << 55) - 1); }
  [[nodiscard]] unsigned note() const { return static_cast<unsigned>(bytes_and_note >> 55) & 63; }
  [[nodiscard]] unsigned kind() const { return static_cast<unsigned>(bytes_and_note >> 61); }
  // Requires note < 64 and kind < 8.
  static uint64_t pack(uint64_t bytes, unsigned note, unsigned kind = 0) {
    return bytes | uint64_t{note} << 55 | uint64_t{kind} << 61;
  }
  [[nodiscard]] bool grave() const { return site == kGrave; }
};
static_assert(sizeof(LiveBlock) == 32);

// Slots in memory of their own, all empty at first; in huge pages where there are many, because a
// table of millions is met at random places. Not copied; swapped.
class LiveSlots {
 public:
  LiveSlots() = default;
  explicit LiveSlots(size_t count);  // Throws std::bad_alloc, like a container.
  LiveSlots(const LiveSlots&) = delete;
  LiveSlots& operator=(const LiveSlots&) = delete;
  ~LiveSlots();

  void swap(LiveSlots& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(count_, other.count_);
  }
  [[nodiscard]] size_t size() const { return count_; }
  LiveBlock& operator[](size_t at) { return begin_[at]; }
  const LiveBlock& operator[](size_t at) const { return begin_[at]; }
  LiveBlock* begin() { return begin_; }
  LiveBlock* end() { return begin_ + count_; }

 private:
  LiveBlock* begin_ = nullptr;
  size_t count_ = 0;
};

class LiveBlocks {
 public:
  static constexpr size_t kMaxBlocks = size_t{1} << 26;

  LiveBlocks();

  enum class Put : uint8_t {
    alive,     // It is alive now; nothing was at its address.
    replaced,  // It is alive now; `before` is the block whose free was lost or is late.
    late,      // A newer event at its address was seen already: it is freed by now.
    refused,   // The table is full.
  };
  // Requires block.address != 0.
  Put put(const LiveBlock& block, LiveBlock& before);

  // True if a block that was alive is freed by this; `freed` is that block.
  bool take(uint64_t address, uint64_t stamp, LiveBlock& freed);

  // Brackets a round, in which everything published at its begin is read.
  void begin_round(bool ordered) { ordered_ = ordered; }
  void end_round();

  [[nodiscard]] size_t size() const { return used_ - graves_; }
  [[nodiscard]] size_t graves() const { return graves_; }
  [[nodiscard]] size_t memory_bytes() const { return slots_.size() * sizeof(LiveBlock); }
  void prefetch(uint64_t address) const { __builtin_prefetch(&slots_[place(address)]); }

  // Calls fn(LiveBlock&) for each block alive; it may change site only.
  template <class Fn>
  void each(Fn&& fn) {
    for (LiveBlock& slot : slots_) {
      if (slot.address != 0 && !slot.grave()) fn(slot);
    }
  }

 private:
  [[nodiscard]] size_t place(uint64_t address) const {
    return (address * 0x9E3779B97F4A7C15U) >> shift_;
  }
  // The slot of the address, or the empty one where it would go.
  [[nodiscard]] size_t find(uint64_t address) const;
  void erase(size_t at);
  void rehash(size_t slots);
  void bury(LiveBlock& slot, uint64_t stamp);

  struct Grave {
    uint64_t address = 0;
    uint64_t stamp = 0;
  };

  LiveSlots slots_;
  unsigned shift_ = 0;
  size_t mask_ = 0;
  size_t used_ = 0;  // Blocks and graves.
  size_t graves_ = 0;
  bool ordered_ = false;
  std::vector<Grave> dug_;         // In this round.
  std::vector<Grave> dug_before_;  // In the round before.
};

}  // namespace plateau
