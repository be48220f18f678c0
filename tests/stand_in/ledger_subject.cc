// SPDX-License-Identifier: Apache-2.0
// A process of which every resident megabyte is known: what the ledger's test reads and adds up.
//
// ledger_subject DIRECTORY: keeps 100 MB of blocks alive, frees as many between them (so that the
// allocator cannot give them back), maps a file of 30 MB from DIRECTORY, shares 20 MB, and has four
// threads that each used 2 MB of stack. Then it prints what glibc says, "in_use free system", and
// waits until its standard input ends.
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr size_t kBlockBytes = 50'000;
constexpr size_t kBlocks = 2'000;
constexpr size_t kFileBytes = 30'000'000;
constexpr size_t kSharedBytes = 20'000'000;
constexpr size_t kStackBytes = 2'000'000;
constexpr int kThreads = 4;

std::atomic<int> used{0};

void use_stack() {
  char room[kStackBytes];
  std::memset(room, 1, sizeof room);
  // The compiler must believe that somebody looks.
  asm volatile("" : : "r"(room) : "memory");
  ++used;
  pause();
}

bool map_file(const std::string& directory) {
  std::string path = directory + "/ledger_subject.XXXXXX";
  const int fd = mkstemp(path.data());
  if (fd < 0) return false;
  unlink(path.c_str());
  const std::vector<char> content(kFileBytes, 'x');
  if (write(fd, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    return false;
  void* map = mmap(nullptr, kFileBytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
  close(fd);
  return map != MAP_FAILED;
}

bool share_memory() {
  const int fd = memfd_create("ledger_subject", 0);
  if (fd < 0 || ftruncate(fd, kSharedBytes) != 0) return false;
  void* map = mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return false;
  std::memset(map, 1, kSharedBytes);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  if (argc < 2 || !map_file(argv[1]) || !share_memory()) return 1;
  std::vector<char*> blocks(2 * kBlocks);
  for (char*& block : blocks) {
    block = static_cast<char*>(std::malloc(kBlockBytes));
    if (block == nullptr) return 1;
    std::memset(block, 1, kBlockBytes);
  }
  for (size_t i = 0; i < blocks.size(); i += 2) std::free(blocks[i]);
  for (int i = 0; i < kThreads; ++i) std::thread(use_stack).detach();
  while (used < kThreads) usleep(1000);
  const struct mallinfo2 info = mallinfo2();
  std::printf("%zu %zu %zu\n", info.uordblks + info.hblkhd, info.fordblks,
              info.arena + info.hblkhd);
  std::fflush(stdout);
  char byte = 0;
  while (read(0, &byte, 1) > 0) {
  }
  _exit(0);
}
