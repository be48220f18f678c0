// SPDX-License-Identifier: Apache-2.0
// Maps memory in several ways. Prints the address and size of each mapping that is left.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace {

char* map(size_t bytes, int protection, int flags) {
  void* memory = mmap(nullptr, bytes, protection, MAP_ANONYMOUS | flags, -1, 0);
  if (memory == MAP_FAILED) {
    abort();
  }
  return static_cast<char*>(memory);
}

char* map_file(int fd, size_t bytes, int protection = PROT_READ | PROT_WRITE) {
  void* memory = mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    abort();
  }
  return static_cast<char*>(memory);
}

void tell(const char* what, const char* memory, size_t bytes) {
  printf("%s %llu %zu\n", what, static_cast<unsigned long long>(reinterpret_cast<size_t>(memory)),
         bytes);
}

}  // namespace

int main() {
  constexpr int kBoth = PROT_READ | PROT_WRITE;
  constexpr size_t kMega = 1 << 20;
  char* kept = map(3 * kMega, kBoth, MAP_PRIVATE);
  tell("kept", kept, 3 * kMega);
  munmap(map(2 * kMega, kBoth, MAP_PRIVATE), 2 * kMega);
  char* grown = map(kMega, kBoth, MAP_PRIVATE);
  grown = static_cast<char*>(mremap(grown, kMega, 8 * kMega, MREMAP_MAYMOVE));
  tell("grown", grown, 8 * kMega);
  tell("shared", map(kMega, kBoth, MAP_SHARED), kMega);
  const int in_memory = memfd_create("mappings", MFD_CLOEXEC);
  tell("shared", map_file(in_memory, 2 * kMega), 2 * kMega);
  munmap(map_file(in_memory, kMega), kMega);
  // Neither is memory that the program makes: a reservation, and what it only reads.
  tell("not", map(64 * kMega, PROT_NONE, MAP_PRIVATE), 64 * kMega);
  tell("not", map_file(in_memory, kMega, PROT_READ), kMega);
  char* replaced = map(kMega, kBoth, MAP_PRIVATE);
  mmap(replaced, kMega, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  tell("not", replaced, kMega);
  return 0;
}
