// SPDX-License-Identifier: Apache-2.0
#include "ptrace/memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

namespace plateau {

size_t copy_memory(pid_t pid, uint64_t address, void* into, size_t count) {
  const iovec ours = {.iov_base = into, .iov_len = count};
  // The address is of the other process; it is never followed here.
  const iovec theirs = {.iov_base = reinterpret_cast<void*>(address), .iov_len = count};  // NOLINT
  const ssize_t got = ::process_vm_readv(pid, &ours, 1, &theirs, 1, 0);
  return got > 0 ? static_cast<size_t>(got) : 0;
}

MemoryFile::MemoryFile(pid_t pid)
    : pid_(pid), file_(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC)) {}

size_t MemoryFile::copy(uint64_t address, void* into, size_t count) const {
  if (!file_) return copy_memory(pid_, address, into, count);
  const ssize_t got = ::pread(file_.get(), into, count, static_cast<off_t>(address));
  return got > 0 ? static_cast<size_t>(got) : 0;
}

bool read_memory(pid_t pid, uint64_t address, void* into, size_t count) {
  return copy_memory(pid, address, into, count) == count;
}

bool write_memory(pid_t pid, uint64_t address, const void* from, size_t count) {
  const Fd memory(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_WRONLY | O_CLOEXEC));
  if (!memory) return false;
  return ::pwrite(memory.get(), from, count, static_cast<off_t>(address)) ==
         static_cast<ssize_t>(count);
}

}  // namespace plateau
