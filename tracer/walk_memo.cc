// SPDX-License-Identifier: Apache-2.0
#include "tracer/walk_memo.h"

#include "tracer/stack_bounds.h"

namespace plateau::trace {
namespace {

// About 11 KB each, touched by threads that take stacks.
constexpr uint64_t kPlaces = 32;
constinit WalkMemo g_memos[kPlaces]{};

uint64_t thread_pointer() {
  return reinterpret_cast<uint64_t>(__builtin_thread_pointer());
}

}  // namespace

WalkMemo* WalkMemo::acquire() noexcept {
  const uint64_t owner = thread_pointer();
  WalkMemo& memo = g_memos[((owner >> 6) * 0x9e3779b97f4a7c15) >> 59];
  if (memo.taken_.exchange(1, std::memory_order_acquire) != 0) return nullptr;
  if (memo.owner_ != owner) {
    memo.owner_ = owner;
    memo.count_ = 0;
    memo.misses_ = 0;
  }
  return &memo;
}

void WalkMemo::check(uint64_t stack_pointer, uint32_t generation) noexcept {
  if (generation_ != generation) count_ = 0;
  uint32_t held = witness_count_;
  while (count_ != 0 && held > 0) {
    const Witness& witness = witnesses_[held - 1];
    if (witness.address < stack_pointer || stack_word(witness.address) != witness.value) {
      break;
    }
    --held;
  }
  next_ = 0;
  // Witnesses from `held` on hold: the first frame of which all do.
  if (held != 0) {
    next_ = count_;
    while (next_ > 0 && frames_[next_ - 1].first_witness >= held) --next_;
  }
}

void WalkMemo::begin(uint32_t generation) noexcept {
  generation_ = generation;
  count_ = 0;
  witness_count_ = 0;
  misses_ = 0;
  overflow_ = false;
}

void WalkMemo::begin_frame(const KeptFrame& frame) noexcept {
  if (count_ == kMaxFrames) {
    overflow_ = true;
    return;
  }
  frames_[count_] = frame;
  frames_[count_++].first_witness = witness_count_;
}

void WalkMemo::add_witness(uint64_t address, uint64_t value) noexcept {
  if (witness_count_ == kMaxWitnesses) {
    overflow_ = true;
    return;
  }
  witnesses_[witness_count_++] = {address, value};
}

void WalkMemo::finish(bool whole) noexcept {
  if (!whole || overflow_) count_ = 0;
  uint64_t tail = 0;
  for (uint32_t i = count_; i-- > 0;) {
    tail = tail * kHashPower + frame_hash(frames_[i].written);
    frames_[i].tail_hash = tail;
  }
}

}  // namespace plateau::trace
