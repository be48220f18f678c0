// SPDX-License-Identifier: Apache-2.0
// Why a process may not be stopped, read or entered, and what to do about it.
//
// The kernel says no more than EPERM. What stands behind it (another user, yama, a container, a
// debugger) is looked up here, as one sentence with its remedy.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plateau {

// What can be known of a process without touching it.
struct TargetFacts {
  bool exists = false;
  char state = '?';  // R, S, D, T, t, Z.
  std::string name;
  int64_t tracer = 0;  // The process that traces it already; 0: none.
  std::string tracer_name;
  int64_t user = -1;
  bool same_user = true;
  bool same_user_namespace = true;
  bool same_pid_namespace = true;
  bool dumpable = true;       // False: set-uid programs, prctl(PR_SET_DUMPABLE, 0).
  bool shadow_stack = false;  // Returns are checked by the processor.
  bool trap_ignored = false;  // The process ignores SIGTRAP.
  int yama = -1;              // /proc/sys/kernel/yama/ptrace_scope; -1: no yama.
  bool descendant = false;    // Of this process.
  bool we_may_all = false;    // CAP_SYS_PTRACE in our own namespace.
};
TargetFacts look_at_target(pid_t pid);

// "process 4242 cannot be traced: REASON; REMEDY"; the remedy may be empty.
Error cannot_trace(pid_t pid, std::string_view reason, std::string_view remedy,
                   Error::Kind kind = Error::Kind::not_found);

// What stands against it before anything is touched: gone, ourselves, ended, traced by another.
Result<void> check_target(pid_t pid, const TargetFacts& facts);

// Why the kernel refused with `failure`.
Error explain_refusal(pid_t pid, const TargetFacts& facts, int failure = EPERM);

// For a thread of `pid` that could not be seized, with `failure`. No error if it has just ended,
// which is refused in the same way.
Result<void> check_failed_seize(pid_t pid, pid_t tid, int failure);

}  // namespace plateau
