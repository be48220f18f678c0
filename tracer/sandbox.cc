// SPDX-License-Identifier: Apache-2.0
#include "tracer/sandbox.h"

#include <linux/seccomp.h>

#include <cerrno>
#include <cstring>

#include "tracer/process.h"
#include "tracer/system_calls.h"
#include "tracer/thread_state.h"

namespace plateau::trace {
namespace {

constexpr int32_t kUnknown = -1;

// The number after `name` at the start of a line; kUnknown if there is none.
int32_t field(const char* text, const char* name) noexcept {
  const char* at = strstr(text, name);
  if (at == nullptr) {
    return kUnknown;
  }
  at += strlen(name);
  while (*at == ' ' || *at == '\t') {
    ++at;
  }
  int32_t value = 0;
  for (; *at >= '0' && *at <= '9' && value < 100'000; ++at) {
    value = value * 10 + (*at - '0');
  }
  return value;
}

}  // namespace

int32_t count_filters() noexcept {
  // The two fields stand within the first 2 KB; more would only be the memory policy's masks.
  char text[4096];
  const int fd = sys_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) {
    return kUnknown;
  }
  const long bytes = sys_read(fd, text, sizeof text - 1);
  sys_close(fd);
  if (bytes <= 0) {
    return kUnknown;
  }
  text[bytes] = '\0';
  const int32_t filters = field(text, "\nSeccomp_filters:");
  return filters != kUnknown ? filters : field(text, "\nSeccomp:");
}

Restriction restriction_of(long number, long option, long value) noexcept {
  if (number == SYS_seccomp) {
    return option == SECCOMP_SET_MODE_STRICT   ? Restriction::counter
           : option == SECCOMP_SET_MODE_FILTER ? Restriction::calls
                                               : Restriction::none;
  }
  if (number != SYS_prctl) {
    return Restriction::none;
  }
  if (option == PR_SET_SECCOMP) {
    return value == SECCOMP_MODE_STRICT ? Restriction::counter : Restriction::calls;
  }
  return option == PR_SET_TSC && value == PR_TSC_SIGSEGV ? Restriction::counter : Restriction::none;
}

void expect_restriction(Restriction restriction) noexcept {
  if (restriction == Restriction::none) {
    return;
  }
  const Busy before = thread_state.busy;
  const int saved = errno;
  thread_state.busy = Busy::looking;
  const Mode mode = configure();
  SegmentHeader* segment =
      mode == Mode::sampled || mode == Mode::exact ? current_segment() : nullptr;
  process.may_call.store(MayCall::nothing, std::memory_order_release);
  if (restriction == Restriction::counter && segment != nullptr) {
    segment->silent_children.fetch_add(1, std::memory_order_relaxed);
    switch_off();
  }
  thread_state.busy = before;
  errno = saved;
}

}  // namespace plateau::trace
