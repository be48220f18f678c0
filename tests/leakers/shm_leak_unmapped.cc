// SPDX-License-Identifier: Apache-2.0
// Keeps descriptors of shared memory open that nobody maps.
//
// Every second step fills a memfd of 512 KiB through write() and never closes it, as a queue does
// whose receiver forgot the descriptor.
// Cause: shared-memory.
// Signal: no process's RSS or PSS moves. Only the open descriptors and the machine's (or cgroup's)
//   shmem show it: `ls -l /proc/PID/fd` lists "/memfd:batch (deleted)".
// Verdict: leak, of the component "shmem".
#include <sys/mman.h>

#include <vector>

#include "leaker.h"

int main(int argc, char** argv) {
  constexpr size_t kBatchBytes = 512UL * 1024;
  leaker::Loop loop(leaker::Plan{}.read(argc, argv));
  leaker::block(40UL * 1024);
  const std::vector<char> batch(kBatchBytes, 1);
  loop.run([&batch](int step) {
    if (step % 2 != 0) return;
    const int fd = memfd_create("batch", MFD_CLOEXEC);
    if (fd < 0) std::abort();
    if (write(fd, batch.data(), batch.size()) != static_cast<ssize_t>(batch.size())) std::abort();
  });
}
