// SPDX-License-Identifier: Apache-2.0
#include "tracer/stack.h"

#include "tracer/mix.h"
#include "tracer/objects.h"
#include "tracer/python.h"
#include "tracer/unwind.h"

namespace plateau::trace {

void capture_stack(RawStack& out, uint64_t caller, const void* frame) noexcept {
  // The hook keeps a frame pointer (it asked for its frame address): its frame holds the caller's
  // frame pointer and the return address, and the caller's stack begins right above.
  const auto base = reinterpret_cast<uint64_t>(frame);
  const WalkStart start{.pc = caller,
                        .stack_pointer = base + 16,
                        .frame_pointer = *static_cast<const uint64_t*>(frame)};
  const Walk walk = walk_stack(start, out.native_frames, kMaxNativeFrames);
  const PythonWalk python = walk_python(out.python_frames, kMaxPythonFrames);
  out.native = walk.count;
  out.python = python.count;
  out.truncated = (walk.truncated ? 1U : 0U) | (python.truncated ? 2U : 0U);
  out.id = mix(mix(walk.hash, python.hash), walk.count + (uint64_t{python.count} << 16)) | 1;
}

void forget_modules() noexcept {
  forget_python();
  forget_unwind_rules();
  forget_announced_objects();
}

void announce_all_again() noexcept {
  forget_unwind_rules();
  forget_announced_objects();
  forget_announced_code();
}

}  // namespace plateau::trace
