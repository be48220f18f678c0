// SPDX-License-Identifier: Apache-2.0
// Keeps every batch that came through shared memory mapped.
//
// Each step makes a segment in /dev/shm, unlinks it, maps and fills it, closes the descriptor and
// keeps the mapping, as a list of batches from a data loader does.
// Cause: shared-memory.
// Signal: RssShmem and Pss_Shmem rise by 256 KiB a step; anonymous memory is level.
// Verdict: leak, in the component "shmem"; a tool that looks at anonymous memory only says plateau.
#include <fcntl.h>
#include <sys/mman.h>

#include "leaker.h"

int main(int argc, char** argv) {
  constexpr size_t kSegmentBytes = 256UL * 1024;
  leaker::Loop loop(leaker::Plan{}.read(argc, argv));
  leaker::block(40UL * 1024);
  loop.run([](int step) {
    const std::string name =
        "/plateau-leaker-" + std::to_string(getpid()) + "-" + std::to_string(step);
    const int fd = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0 || ftruncate(fd, kSegmentBytes) != 0) std::abort();
    shm_unlink(name.c_str());
    void* batch = mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (batch == MAP_FAILED) std::abort();
    leaker::touch(batch, kSegmentBytes);
    close(fd);
  });
}
