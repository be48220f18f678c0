// SPDX-License-Identifier: Apache-2.0
// Walks the native stack of this thread. Any thread, any moment, also inside a signal handler: no
// locks, no allocation, no memory read that may be unmapped.
#pragma once

#include <cstdint>

namespace plateau::trace {

// The registers of a frame from which a walk starts.
struct WalkStart {
  uint64_t pc = 0;  // A return address.
  uint64_t stack_pointer = 0;
  uint64_t frame_pointer = 0;
};

struct Walk {
  uint32_t count = 0;
  bool truncated = false;  // There were more frames than room.
  uint64_t hash = 0;
};

// Writes the return addresses from `start.pc` on, innermost first, into `frames`. Where a signal
// interrupted a function, the interrupted address is written plus one, so that the byte before
// each written address belongs to the instruction that was running.
Walk walk_stack(const WalkStart& start, uint64_t* frames, uint32_t room) noexcept;

// Rules learned so far are no longer used.
void forget_unwind_rules() noexcept;

}  // namespace plateau::trace
