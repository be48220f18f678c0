// SPDX-License-Identifier: Apache-2.0
// Which system calls a thread may be taken out of and put back into.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plateau {

// What /proc/PID/task/TID/syscall says of a thread that is blocked.
struct BlockedCall {
  int64_t number = -1;
  uint64_t arguments[6] = {};
  uint64_t stack = 0;
  uint64_t program = 0;
};

// nullopt for "running", for a thread blocked outside of a system call, and for other text.
std::optional<BlockedCall> parse_blocked_call(std::string_view text);

// The name of a call in which a thread holds no lock of an allocator or of the loader, because
// neither ever makes it: sleeping, waiting for descriptors or children. nullopt for all others. Of
// the futex calls only those of condition variables, semaphores and joins count
// (FUTEX_WAIT_BITSET): a lock inside malloc waits by plain FUTEX_WAIT.
std::optional<std::string> safe_sleep(int64_t number, uint64_t second_argument);

// True for calls by which the spin locks of some allocators (tcmalloc's) wait.
bool spinlock_may_sleep(int64_t number);

}  // namespace plateau
