// SPDX-License-Identifier: Apache-2.0
// A malloc storm: nothing but malloc and free, from many places, as fast as they go.
//
//   storm [PAIRS [THREADS]]
//
// Every thread holds 4096 slots. A step picks a slot, frees what is in it and allocates anew at the
// end of one of 1024 distinct call stacks of 22 frames. There are 24 sizes: nine of ten blocks have
// 8 to 512 B, one of a hundred 20 to 80 KB, 1.2 KB on average. (With sizes of every byte heaptrack
// 1.4 takes all memory of the machine: its table of size and stack degenerates.) Prints a checksum.
// Built without frame pointers, like what distributions ship.
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "usage.h"

namespace {

constexpr unsigned kSlots = 4096;
constexpr int kPlainFrames = 10;
constexpr int kBranches = 10;

struct Random {
  uint64_t state;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
};

size_t pick_size(Random& random) {
  const uint64_t draw = random.next();
  const uint64_t kind = (draw >> 40) % 100;
  if (kind < 90) return 8 + draw % 15 * 36;
  return kind < 99 ? 1024 + draw % 5 * 1792 : 20480 + draw % 4 * 20480;
}

// Ten frames that are the same for all, then ten that go left or right by a bit of `path`.
template <int Level, bool Right>
[[gnu::noinline]] void* descend(unsigned path, size_t bytes) {
  void* block = nullptr;
  if constexpr (Level == 0) {
    block = malloc(bytes);
  } else if constexpr (Level > kBranches) {
    block = descend<Level - 1, false>(path, bytes);
  } else if ((path & 1) != 0) {
    block = descend<Level - 1, true>(path >> 1, bytes);
  } else {
    block = descend<Level - 1, false>(path >> 1, bytes);
  }
  asm volatile("" : "+r"(block));  // Not a tail call.
  return block;
}

struct Work {
  uint64_t pairs = 0;
  uint64_t seed = 0;
  uint64_t check = 0;
};

void* storm(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  Random random{work.seed};
  static thread_local char* slots[kSlots];
  for (uint64_t i = 0; i < work.pairs; ++i) {
    const uint64_t draw = random.next();
    char*& slot = slots[draw % kSlots];
    free(slot);
    const size_t bytes = pick_size(random);
    const auto path = static_cast<unsigned>(draw >> 20) & 1023;
    slot = static_cast<char*>(descend<kBranches + kPlainFrames, false>(path, bytes));
    slot[0] = static_cast<char>(draw);
    slot[bytes - 1] = static_cast<char>(draw >> 8);
    work.check += static_cast<unsigned char>(slot[0]);
  }
  for (char*& slot : slots) {
    free(slot);
    slot = nullptr;
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t pairs = argc > 1 ? strtoull(argv[1], nullptr, 10) : 3'000'000;
  const unsigned long threads = argc > 2 ? strtoul(argv[2], nullptr, 10) : 1;
  if (pairs == 0 || threads == 0 || threads > 16) {
    fprintf(stderr, "usage: storm [PAIRS [THREADS up to 16]]\n");
    return 2;
  }
  Work work[16];
  pthread_t ids[16];
  for (unsigned long i = 0; i < threads; ++i) {
    work[i] = {.pairs = pairs, .seed = 0x9e3779b97f4a7c15 + i};
    if (pthread_create(&ids[i], nullptr, storm, &work[i]) != 0) {
      return 1;
    }
  }
  uint64_t check = 0;
  for (unsigned long i = 0; i < threads; ++i) {
    pthread_join(ids[i], nullptr);
    check += work[i].check;
  }
  printf("%llu\n", static_cast<unsigned long long>(check));
  print_usage();
  return 0;
}
