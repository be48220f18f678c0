// SPDX-License-Identifier: Apache-2.0
// Memory of another process, by its addresses. Whether it stands still is the caller's business.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "base/fd.h"

namespace plateau {

// Copies `count` bytes at `address`; how many could be copied before the first that cannot be read.
size_t copy_memory(pid_t pid, uint64_t address, void* into, size_t count);

// The same for many copies, of a process that is opened once. Since Linux 5.19 process_vm_readv()
// gives a process that was forked copies of its own of all pages it is read from, as if it had
// written to them: a look into a data worker of 250 MB cost 250 MB. Reading /proc/PID/mem does not.
class MemoryFile {
 public:
  explicit MemoryFile(pid_t pid);
  size_t copy(uint64_t address, void* into, size_t count) const;

 private:
  pid_t pid_;
  Fd file_;
};

// False if not all could be read or written. Pages are written even if the process itself may not,
// and become its own if they were of a file.
bool read_memory(pid_t pid, uint64_t address, void* into, size_t count);
bool write_memory(pid_t pid, uint64_t address, const void* from, size_t count);

}  // namespace plateau
