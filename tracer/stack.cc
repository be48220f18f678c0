// SPDX-License-Identifier: Apache-2.0
#include "tracer/stack.h"

#include "tracer/mix.h"
#include "tracer/objects.h"
#include "tracer/unwind.h"

namespace plateau::trace {

void capture_stack(RawStack& out, uint64_t caller, const void* frame) noexcept {
  // The hook keeps a frame pointer (it asked for its frame address): its frame holds the caller's
  // rbp and the return address, and the caller's stack begins right above.
  const auto base = reinterpret_cast<uint64_t>(frame);
  const WalkStart start{.pc = caller,
                        .stack_pointer = base + 16,
                        .frame_pointer = *static_cast<const uint64_t*>(frame)};
  const Walk walk = walk_stack(start, out.native_frames, kMaxNativeFrames);
  out.native = walk.count;
  out.python = 0;
  out.truncated = walk.truncated ? 1 : 0;
  out.id = mix(walk.hash, walk.count) | 1;
}

void forget_modules() noexcept {
  forget_unwind_rules();
  forget_announced_objects();
}

void announce_all_again() noexcept {
  forget_unwind_rules();
  forget_announced_objects();
}

}  // namespace plateau::trace
