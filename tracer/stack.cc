// SPDX-License-Identifier: Apache-2.0
#include "tracer/stack.h"

#include <atomic>

#include "tracer/mix.h"
#include "tracer/objects.h"
#include "tracer/python.h"
#include "tracer/sent_objects.h"
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

namespace {

// Threads that are unloading something. A child that was forked meanwhile keeps the count, and
// trusts nothing that its parent has learned.
std::atomic<uint32_t> g_unloading{0};

void learn_all_anew() {
  forget_unwind_rules();
  forget_announced_objects();
  forget_sent();
}

}  // namespace

void begin_unloading() noexcept {
  g_unloading.fetch_add(1, std::memory_order_relaxed);
  forget_modules();
}

void end_unloading() noexcept {
  forget_modules();
  g_unloading.fetch_sub(1, std::memory_order_relaxed);
}

void forget_modules() noexcept {
  forget_python();
  learn_all_anew();
}

void announce_all_again() noexcept {
  forget_announced_code();
  if (g_unloading.load(std::memory_order_relaxed) == 0 && send_again()) {
    tell_about_python();
  } else {
    learn_all_anew();
  }
}

}  // namespace plateau::trace
