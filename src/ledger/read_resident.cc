// SPDX-License-Identifier: Apache-2.0
// Resident memory of a live process, and where its threads' stacks are.
//
// The kernel does not mark thread stacks among the mappings. Three signs are used, any of which
// will do: the stack pointer in /proc/PID/task/TID/syscall, which the kernel shows while a thread
// waits; a mapping of glibc's usual size directly above a guard page, which is also how the stacks
// of ended threads look that glibc keeps; and the name that newer glibc gives a stack. The pointer
// in /proc/PID/task/TID/stat (kstkesp) is 0 for a live process on every current kernel.
//
// Blind spot: a running thread whose stack is not of the usual size counts as anonymous memory.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "ledger/ledger.h"

namespace plateau {
namespace {

constexpr size_t kMaxThreads = 10000;  // Of which the stack pointer is looked at.

std::vector<uint64_t> stack_pointers(pid_t pid) {
  std::vector<uint64_t> found;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  std::vector<pid_t> threads = pids_in(tasks);
  threads.resize(std::min(threads.size(), kMaxThreads));
  for (const pid_t thread : threads) {
    const std::string text = text_of_file(fmt::format("{}/{}/syscall", tasks, thread));
    if (const auto pointer = stack_pointer_in(text)) found.push_back(*pointer);
  }
  return found;
}

Error unreadable(pid_t pid, int error) {
  if (error == ENOENT || error == ESRCH) {
    return {Error::Kind::not_found, fmt::format("there is no process with pid {}", pid)};
  }
  std::string message =
      fmt::format("cannot read the mappings of pid {}: {}", pid, std::strerror(error));
  if (error == EACCES || error == EPERM) {
    message += "; only its owner, with ptrace allowed, or root may";
  }
  return {Error::Kind::not_found, message};
}

}  // namespace

Result<ResidentByMapping> read_resident(pid_t pid) {
  // Pointers first: a thread that ends meanwhile leaves its stack mapped, a new one is missed.
  std::vector<uint64_t> stacks = stack_pointers(pid);
  int error = 0;
  const std::string text = read_file_at(AT_FDCWD, fmt::format("/proc/{}/smaps", pid), error);
  if (error != 0) return unreadable(pid, error);
  for (const uint64_t stack : stacks_above_guards(text)) stacks.push_back(stack);
  return parse_smaps(text, stacks);
}

}  // namespace plateau
