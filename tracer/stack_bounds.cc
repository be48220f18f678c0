// SPDX-License-Identifier: Apache-2.0
#include "tracer/stack_bounds.h"

#include <cerrno>
#include <csignal>

#include "tracer/process.h"
#include "tracer/system_calls.h"

extern "C" {
// The loader's: where the main thread's stack began.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern void* __libc_stack_end __attribute__((weak));
}

namespace plateau::trace {
namespace {

// The kernel keeps mappings at least 128 MiB below the top of the main stack.
constexpr uint64_t kMaxMainStackBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxThreadStackBytes = uint64_t{64} << 20;

// What is known of the stack that this thread was started with: everything from t_known_low up to
// the thread pointer is its stack. [t_other_low, t_other_high) was found not to be.
__attribute__((tls_model("initial-exec"))) thread_local uint64_t t_known_low = 0;
__attribute__((tls_model("initial-exec"))) thread_local uint64_t t_other_low = 0;
__attribute__((tls_model("initial-exec"))) thread_local uint64_t t_other_high = 0;

uint64_t page_of(uint64_t address) {
  return address & ~(kPageBytes - 1);
}

// True if every page from `sp` to `top`, the thread pointer, is readable: then sp is on the
// thread's own stack, because a guard page lies below every stack.
bool on_thread_stack(uint64_t sp, uint64_t top) {
  if (sp >= top || top - sp > kMaxThreadStackBytes) return false;
  if (t_known_low != 0 && sp >= t_known_low) return true;
  if (sp >= t_other_low && sp < t_other_high) return false;
  const uint64_t low = page_of(sp);
  const uint64_t high = t_known_low != 0 ? t_known_low : page_of(top);
  for (uint64_t page = high; page > low;) {
    page -= kPageBytes;
    if (!page_is_readable(page)) {
      t_other_low = low;
      t_other_high = page + kPageBytes;
      return false;
    }
  }
  t_known_low = low;
  return true;
}

}  // namespace

bool page_is_readable(uint64_t address) noexcept {
  // The kernel reads the signal set before it finds that there is no such way to change it.
  constexpr long kNoSuchWay = ~0L;
  if (!may_call(MayCall::anything)) return false;
  return system_call(SYS_rt_sigprocmask, kNoSuchWay, address, 0, 8) == -EINVAL;
}

void know_thread_stack(uint64_t low) noexcept {
  t_known_low = page_of(low);
}

void StackBounds::enter(uint64_t sp) noexcept {
  low_ = sp;
  floor_ = sp;
  anchored_ = true;
  if (&__libc_stack_end != nullptr) {
    const auto top = reinterpret_cast<uint64_t>(__libc_stack_end);
    if (sp < top && top - sp < kMaxMainStackBytes) {
      span_ = top - sp > 7 ? top - sp - 7 : 0;
      return;
    }
  }
  const auto top = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  if (on_thread_stack(sp, top)) {
    span_ = top - sp > 7 ? top - sp - 7 : 0;
    return;
  }
  anchored_ = false;
  span_ = 0;
}

bool StackBounds::readable_slowly(uint64_t address) noexcept {
  if (address < floor_ || address % 8 != 0 || !page_is_readable(address)) return false;
  low_ = page_of(address) > floor_ ? page_of(address) : floor_;
  span_ = page_of(address) + kPageBytes - low_ - 7;
  return true;
}

}  // namespace plateau::trace
