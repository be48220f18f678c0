// SPDX-License-Identifier: Apache-2.0
// What of a thread is the processor's: registers, breakpoints, the call it was stopped in.
#include <linux/elf.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include "ptrace/ask.h"
#include "ptrace/tracee.h"

namespace plateau {
namespace {

constexpr size_t kMaxExtendedBytes = size_t{64} * 1024;
constexpr uint64_t kAllFour = 0x55;  // DR7: local enable of DR0 to DR3, each "execute, one byte".

// Of those that only wait.
constexpr auto kFailing = std::to_array<int64_t>(
    {SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_semop, SYS_semtimedop,
     SYS_rt_sigtimedwait, SYS_io_getevents, SYS_read, SYS_readv, SYS_write, SYS_recvfrom,
     SYS_recvmsg, SYS_sendto, SYS_sendmsg, SYS_accept, SYS_accept4});

size_t debug_register(size_t index) {
  return offsetof(user, u_debugreg) + index * sizeof(user::u_debugreg[0]);
}

bool poke_debug(pid_t tid, size_t index, uint64_t value) {
  return asked(PTRACE_POKEUSER, tid, debug_register(index), value);
}

// Signals that wait for the thread or for its process, without those it has blocked.
bool deliverable_signal_waits(pid_t tid, uint64_t blocked) {
  for (const uint32_t flags : {uint32_t{0}, uint32_t{PTRACE_PEEKSIGINFO_SHARED}}) {
    std::array<siginfo_t, 32> found = {};
    __ptrace_peeksiginfo_args arguments = {.off = 0, .flags = flags, .nr = 32};
    const long count = ::ptrace(PTRACE_PEEKSIGINFO, tid, &arguments, found.data());
    for (long i = 0; i < count; ++i) {
      if ((bit_of(found[static_cast<size_t>(i)].si_signo) & blocked) == 0) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<user_regs_struct> Tracee::registers() const {
  user_regs_struct registers = {};
  if (!asked(PTRACE_GETREGS, tid_, nullptr, &registers)) return std::nullopt;
  return registers;
}

bool Tracee::set_registers(const user_regs_struct& registers) {
  return asked(PTRACE_SETREGS, tid_, nullptr, &registers);
}

uint64_t program_counter(const user_regs_struct& registers) {
  return registers.rip;
}

std::optional<ThreadState> Tracee::save() const {
  ThreadState state;
  const auto registers = this->registers();
  const auto mask = signal_mask();
  if (!registers || !mask) return std::nullopt;
  state.registers = *registers;
  state.signal_mask = *mask;
  state.extended.resize(kMaxExtendedBytes);
  iovec area = {.iov_base = state.extended.data(), .iov_len = state.extended.size()};
  if (!asked(PTRACE_GETREGSET, tid_, NT_X86_XSTATE, &area)) return std::nullopt;
  state.extended.resize(area.iov_len);
  return state;
}

bool Tracee::restore(const ThreadState& state) {
  std::vector<char> extended = state.extended;
  iovec area = {.iov_base = extended.data(), .iov_len = extended.size()};
  const bool floating = asked(PTRACE_SETREGSET, tid_, NT_X86_XSTATE, &area);
  const bool general = set_registers(state.registers);
  return set_signal_mask(state.signal_mask) && floating && general;
}

size_t Tracee::set_breakpoints(std::span<const uint64_t> addresses) {
  size_t set = 0;
  uint64_t enable = 0;
  for (const uint64_t address : addresses.first(std::min<size_t>(addresses.size(), 4))) {
    if (!poke_debug(tid_, set, address)) break;
    enable |= kAllFour & (uint64_t{3} << (2 * set));
    ++set;
  }
  if (set > 0 && !poke_debug(tid_, 7, enable)) set = 0;
  armed_ = set > 0;
  return set;
}

void Tracee::clear_breakpoints() {
  if (!armed_) return;
  poke_debug(tid_, 7, 0);
  for (size_t i = 0; i < 4; ++i) poke_debug(tid_, i, 0);
}

bool fails_when_stopped(int64_t number) {
  return std::ranges::find(kFailing, number) != kFailing.end();
}

void Tracee::mend_call() {
  if (signal_ != 0) return;
  auto registers = this->registers();
  if (!registers) return;
  const auto number = static_cast<int64_t>(registers->orig_rax);
  if (number < 0 || static_cast<int64_t>(registers->rax) != -EINTR) return;
  if (!fails_when_stopped(number)) return;
  if (deliverable_signal_waits(tid_, signal_mask().value_or(0))) return;
  registers->rax = registers->orig_rax;
  registers->rip -= 2;  // The length of the `syscall` instruction.
  registers->orig_rax = ~0ULL;
  set_registers(*registers);
}

}  // namespace plateau
