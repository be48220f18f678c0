// SPDX-License-Identifier: Apache-2.0
// What the tracer keeps per thread: one cache line of thread-local storage, all zero at the start
// of a thread, nothing to be cleaned up at its end.
#pragma once

#include <cstdint>

namespace plateau::trace {

// Where this thread stands with respect to the real allocator.
enum class Within : uint8_t {
  program = 0,
  allocator = 1,  // Between entry and return of a real allocator function.
  probing = 2,    // In the first real operator new: does it call malloc?
};

// What the tracer itself is doing in this thread; its hooks only forward while it is not idle.
enum class Busy : uint8_t {
  idle = 0,
  looking = 1,  // Taking a stack or the allocator's account: may call out, and those may allocate.
  writing = 2,  // Holding a lane: calls nothing, so a hook entered now is a signal handler's.
};

struct ThreadState {
  int64_t countdown = 0;  // Bytes until the next sample; below 0: this block is due.
  uint64_t random = 0;    // Of the sampler; 0 before the first draw.
  volatile Within within = Within::program;
  volatile Busy busy = Busy::idle;
  uint8_t lane = 0;  // Preferred lane, plus 1; 0: none chosen.
};

// Initial-exec, because the general model may call malloc for the storage itself.
extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

}  // namespace plateau::trace
