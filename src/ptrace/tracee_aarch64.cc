// SPDX-License-Identifier: Apache-2.0
// What of a thread is the processor's, on arm64. Stopping a process to look at it needs the
// registers alone; nothing here calls functions in it, so breakpoints and the whole state of a
// thread are missing (inject/safe_point_aarch64.cc says so to users).
#include <linux/elf.h>
#include <sys/uio.h>

#include "ptrace/ask.h"
#include "ptrace/tracee.h"

namespace plateau {

std::optional<user_regs_struct> Tracee::registers() const {
  user_regs_struct registers = {};
  iovec area = {.iov_base = &registers, .iov_len = sizeof registers};
  if (!asked(PTRACE_GETREGSET, tid_, NT_PRSTATUS, &area)) return std::nullopt;
  return registers;
}

uint64_t program_counter(const user_regs_struct& registers) {
  return registers.pc;
}

// Never armed.
void Tracee::clear_breakpoints() {}

// Calls that the kernel makes again by itself it has set back before a tracer sees the thread. Of
// one that fails with EINTR the first argument is lost: its register holds the result, and ptrace
// does not tell what it held before. Such a call ends as after any debugger's stop.
void Tracee::mend_call() {}

}  // namespace plateau
