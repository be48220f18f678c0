// SPDX-License-Identifier: Apache-2.0
// Why a process may not be touched, and what to do about it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

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

// The reason not even to try: gone, a zombie, stopped, traced by another, shadow stack.
std::optional<Error> reason_not_to_try(pid_t pid, const TargetFacts& facts);
// Explains that the kernel refused (EPERM).
Error explain_refusal(pid_t pid, const TargetFacts& facts);

}  // namespace plateau
