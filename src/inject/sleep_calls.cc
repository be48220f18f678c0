// SPDX-License-Identifier: Apache-2.0
#include "inject/sleep_calls.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace plateau {
namespace {

// Calls that read or accept come with descriptors that can wait; on plain files they do not wait
// where a stop could interrupt them.
constexpr auto kSafe = std::to_array<std::pair<int64_t, std::string_view>>({
#if defined(__x86_64__)
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_pause, "pause"},
    {SYS_epoll_wait, "epoll_wait"},
#endif
    {SYS_rt_sigsuspend, "rt_sigsuspend"},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect6"},
    {SYS_epoll_pwait, "epoll_pwait"},
    {SYS_epoll_pwait2, "epoll_pwait2"},
    {SYS_read, "read"},
    {SYS_readv, "readv"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_accept, "accept"},
    {SYS_accept4, "accept4"},
    // A sleep, poll or futex wait with a time limit, resumed after an earlier stop.
    {SYS_restart_syscall, "a resumed wait"},
    {SYS_wait4, "wait4"},
    {SYS_waitid, "waitid"},
});

std::optional<uint64_t> hexadecimal(std::string_view word) {
  return word.starts_with("0x") ? parse_digits(word.substr(2), 16) : std::nullopt;
}

}  // namespace

std::optional<BlockedCall> parse_blocked_call(std::string_view text) {
  std::string_view rest = trim(text);
  BlockedCall call;
  const std::optional<int64_t> number = parse_int(next_word(rest));
  if (!number || *number < 0) return std::nullopt;
  call.number = *number;
  for (uint64_t& argument : call.arguments) {
    const std::optional<uint64_t> value = hexadecimal(next_word(rest));
    if (!value) return std::nullopt;
    argument = *value;
  }
  const std::optional<uint64_t> stack = hexadecimal(next_word(rest));
  const std::optional<uint64_t> program = hexadecimal(next_word(rest));
  if (!stack || !program) return std::nullopt;
  call.stack = *stack;
  call.program = *program;
  return call;
}

std::optional<std::string> safe_sleep(int64_t number, uint64_t second_argument) {
  if (number == SYS_futex) {
    const int command = static_cast<int>(second_argument) & FUTEX_CMD_MASK;
    if (command == FUTEX_WAIT_BITSET) return "futex";
    return std::nullopt;
  }
  const auto found = std::ranges::find(kSafe, number, &std::pair<int64_t, std::string_view>::first);
  if (found == kSafe.end()) return std::nullopt;
  return std::string(found->second);
}

bool spinlock_may_sleep(int64_t number) {
  return number == SYS_nanosleep || number == SYS_clock_nanosleep || number == SYS_restart_syscall;
}

}  // namespace plateau
