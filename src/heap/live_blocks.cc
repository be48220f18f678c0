// SPDX-License-Identifier: Apache-2.0
#include "heap/live_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

namespace plateau {
namespace {

// One page: a job that forks all the time has many processes of some dozen blocks, and each page
// of a table that they are scattered over is a fault.
constexpr size_t kFirstSlots = 4096 / sizeof(LiveBlock);
constexpr size_t kKeptSlots = 4096;  // It never shrinks below this.
constexpr size_t kHugeBytes = size_t{8} * 1024 * 1024;

}  // namespace

// Zero bytes are an empty slot, so the kernel's pages need no filling.
LiveSlots::LiveSlots(size_t count) : count_(count) {
  const size_t bytes = count * sizeof(LiveBlock);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  if (bytes >= kHugeBytes) madvise(memory, bytes, MADV_HUGEPAGE);
  begin_ = static_cast<LiveBlock*>(memory);
}

LiveSlots::~LiveSlots() {
  if (begin_ != nullptr) munmap(begin_, count_ * sizeof(LiveBlock));
}

LiveBlocks::LiveBlocks() {
  rehash(kFirstSlots);
}

size_t LiveBlocks::find(uint64_t address) const {
  size_t at = place(address);
  while (slots_[at].address != address && slots_[at].address != 0) at = (at + 1) & mask_;
  return at;
}

void LiveBlocks::rehash(size_t slots) {
  LiveSlots before(slots);
  before.swap(slots_);
  mask_ = slots - 1;
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots));
  for (const LiveBlock& slot : before) {
    if (slot.address != 0) slots_[find(slot.address)] = slot;
  }
}

// Moves later members of the probe chain back over the hole.
void LiveBlocks::erase(size_t at) {
  size_t hole = at;
  size_t next = (at + 1) & mask_;
  while (slots_[next].address != 0) {
    const size_t home = place(slots_[next].address);
    if (((next - home) & mask_) >= ((next - hole) & mask_)) {
      slots_[hole] = slots_[next];
      hole = next;
    }
    next = (next + 1) & mask_;
  }
  slots_[hole].address = 0;
  --used_;
}

void LiveBlocks::bury(LiveBlock& slot, uint64_t stamp) {
  slot.site = LiveBlock::kGrave;
  slot.stamp = stamp;
  ++graves_;
  dug_.push_back({slot.address, stamp});
}

LiveBlocks::Put LiveBlocks::put(const LiveBlock& block, LiveBlock& before) {
  if (used_ * 8 >= slots_.size() * 5) {
    if (used_ >= kMaxBlocks) return Put::refused;
    rehash(slots_.size() * 2);
  }
  LiveBlock& slot = slots_[find(block.address)];
  if (slot.address == 0) {
    slot = block;
    ++used_;
    return Put::alive;
  }
  // A block of the same stamp as a free was made after it: the address was given back first.
  if (slot.grave()) {
    if (slot.stamp > block.stamp) return Put::late;
    --graves_;
    slot = block;
    return Put::alive;
  }
  if (slot.stamp > block.stamp) return Put::late;
  before = slot;
  slot = block;
  return Put::replaced;
}

bool LiveBlocks::take(uint64_t address, uint64_t stamp, LiveBlock& freed) {
  if (address == 0) return false;
  const size_t at = find(address);
  LiveBlock& slot = slots_[at];
  if (slot.address == 0) {
    if (ordered_ || used_ >= kMaxBlocks) return false;
    slot.address = address;
    ++used_;
    bury(slot, stamp);
    if (used_ * 8 >= slots_.size() * 5) rehash(slots_.size() * 2);
    return false;
  }
  if (slot.stamp > stamp) return false;
  if (slot.grave()) {
    slot.stamp = stamp;
    dug_.push_back({address, stamp});
    return false;
  }
  freed = slot;
  if (ordered_) {
    erase(at);
  } else {
    bury(slot, stamp);
  }
  return true;
}

void LiveBlocks::end_round() {
  for (const Grave& grave : dug_before_) {
    const size_t at = find(grave.address);
    if (slots_[at].address == 0 || !slots_[at].grave() || slots_[at].stamp != grave.stamp) continue;
    erase(at);
    --graves_;
  }
  dug_before_.clear();
  dug_before_.swap(dug_);
  const bool sparse = slots_.size() > kKeptSlots && used_ * 16 < slots_.size();
  if (sparse) rehash(std::max(kKeptSlots, slots_.size() / 4));
}

}  // namespace plateau
