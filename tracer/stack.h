// SPDX-License-Identifier: Apache-2.0
// A call stack as the tracer takes it: return addresses, and the Python frames of this thread.
//
// capture_stack() runs inside malloc of any program, in any thread, also in a signal handler that
// interrupted malloc. So it takes no lock, allocates nothing, throws nothing and reads no memory
// that may be unmapped.
#pragma once

#include <cstdint>

#include "tracer/segment.h"

namespace plateau::trace {

struct RawStack {
  uint64_t id = 0;  // Hash over all frames; never 0 once taken.
  uint32_t native = 0;
  uint32_t python = 0;
  uint32_t truncated = 0;
  uint64_t native_frames[kMaxNativeFrames];
  PythonFrameWords python_frames[kMaxPythonFrames];
};

// Fills `out` with the stack of the caller of the hook whose return address is `caller` and whose
// frame is `frame` (__builtin_frame_address(0) of the hook). Frames of the tracer itself are not in
// it. Modules and code objects that are met for the first time are announced through the lanes.
void capture_stack(RawStack& out, uint64_t caller, const void* frame) noexcept;

// Forget what was learned about code that may be unloaded: before and after dlclose.
void forget_modules() noexcept;
void begin_unloading() noexcept;
void end_unloading() noexcept;

// The segment is a new one, of a child or for another recorder: tells it of everything that stacks
// to come may name and that it will not be told otherwise.
// Requires: the segment is this process's.
void announce_all_again() noexcept;

}  // namespace plateau::trace
