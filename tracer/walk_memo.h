// SPDX-License-Identifier: Apache-2.0
// The last stack of a thread, kept so that the next walk can stop where it meets it.
//
// Question: successive stacks of a thread share most of their outer frames. Can a walk take those
// over without stepping through them, and still be exact?
//
// Method. A step is a function of the registers (pc, sp, rbp) and of the few words of the stack
// that its rule names. So a kept walk lists for each step the words it read: its witnesses, an
// address and a value each. If all witnesses from some frame outwards still hold, and a new walk
// arrives at that frame with the same registers, every further step would read the same words and
// give the same frames. Checking witnesses is quick, because one does not wait for the other: a
// step needs the result of the one before, 15 cycles each; a check is an independent load.
//
// Worked number: 22 frames have about 35 witnesses; the walk takes 22 x 15 = 330 cycles, the check
// about 50.
//
// A thread finds its kept walk by its thread pointer; two threads that share a place take turns,
// and one that finds it taken (by a signal handler on top of a walk, too) does without. Whatever is
// in a place is only believed if owner and generation fit. All zero is empty.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracer/segment.h"

namespace plateau::trace {

struct Witness {
  uint64_t address = 0;
  uint64_t value = 0;
};

// One frame of a kept walk: what is written for it, and the registers on arrival.
struct KeptFrame {
  uint64_t written = 0;
  uint64_t stack_pointer = 0;  // 0: an interrupted frame; walks do not meet here.
  uint64_t frame_pointer = 0;
  uint64_t tail_hash = 0;      // Of this frame and all further out.
  uint64_t first_witness = 0;  // Of the step from here outwards.
};

class WalkMemo {
 public:
  static constexpr uint32_t kMaxFrames = kMaxNativeFrames;
  static constexpr uint32_t kMaxWitnesses = 3 * kMaxFrames;

  // The memo of this thread, taken until release(); nullptr if somebody has it.
  static WalkMemo* acquire() noexcept;
  void release() noexcept { taken_.store(0, std::memory_order_release); }

  // Checks the witnesses from the outermost inwards, at addresses from `stack_pointer` up. A walk
  // may from now on meet the kept one at meeting() and further out.
  void check(uint64_t stack_pointer, uint32_t generation) noexcept;

  // The kept frame that a walk has arrived at; nullptr if it has not arrived at one.
  const KeptFrame* met(uint64_t written, uint64_t stack_pointer, uint64_t frame_pointer) noexcept {
    while (frames_[next_].stack_pointer < stack_pointer && next_ < count_) ++next_;
    const KeptFrame& frame = frames_[next_];
    return next_ < count_ && frame.stack_pointer == stack_pointer && frame.written == written &&
                   frame.frame_pointer == frame_pointer
               ? &frame
               : nullptr;
  }
  const KeptFrame* end() const noexcept { return frames_ + count_; }

  // Whether the kept walk has served badly enough that the next should be kept instead.
  bool should_keep() const noexcept { return count_ == 0 || misses_ >= kMaxMisses; }
  // How many of a walk's frames had to be stepped through.
  void judge(uint32_t stepped, uint32_t in_all) noexcept {
    misses_ = 2 * stepped > in_all + 2 ? misses_ + 1 : 0;
  }

  // Keeping a walk: begin, then for each frame begin_frame and its witnesses, then finish.
  void begin(uint32_t generation) noexcept;
  void begin_frame(const KeptFrame& frame) noexcept;
  void add_witness(uint64_t address, uint64_t value) noexcept;
  // `whole`: the walk reached the end of the stack, and everything it read may be read again.
  void finish(bool whole) noexcept;

 private:
  static constexpr uint32_t kMaxMisses = 64;

  std::atomic<uint32_t> taken_{0};
  uint32_t generation_ = 0;
  uint64_t owner_ = 0;
  uint32_t count_ = 0;
  uint32_t witness_count_ = 0;
  uint32_t next_ = 0;
  uint32_t misses_ = 0;
  bool overflow_ = false;
  KeptFrame frames_[kMaxFrames + 1];
  Witness witnesses_[kMaxWitnesses];
};

// The hash of a walk: each frame's part times a power of an odd constant. Outer frames are a
// polynomial of their own, so a tail's hash can be kept and shifted to its place.
inline constexpr uint64_t kHashPower = 0xd6e8feb86659fd93;
inline uint64_t frame_hash(uint64_t written) noexcept {
  const uint64_t product = written * 0x9e3779b97f4a7c15;
  return product ^ (product >> 32);
}

}  // namespace plateau::trace
