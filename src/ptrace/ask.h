// SPDX-License-Identifier: Apache-2.0
// Inside of Tracee: what its parts for all processors (tracee.cc) and for one (tracee_x86_64.cc,
// tracee_aarch64.cc) ask the kernel by.
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>

#include <cstdint>

namespace plateau {

// ptrace's own declaration takes an enumeration and variadic words.
template <typename Address, typename Data>
bool asked(__ptrace_request request, pid_t tid, Address address, Data data) {
  return ::ptrace(request, tid, address, data) == 0;
}

inline uint64_t bit_of(int signal) {
  return uint64_t{1} << (signal - 1);
}

}  // namespace plateau
