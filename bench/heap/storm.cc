// SPDX-License-Identifier: Apache-2.0
// A malloc storm: nothing but malloc and free, from many places, as fast as they go.
//
//   storm [PAIRS [THREADS]]
//
// Every thread holds 4096 slots. A step picks a slot, frees what is in it and allocates anew at the
// end of one of 1024 distinct call stacks of 22 frames. Sizes are 8 B to 80 KB: nine of ten up to
// 512 B, one of a hundred above 8 KB, 1 KB on average. Prints nanoseconds of CPU and of wall time
// per pair. Built without frame pointers, like what distributions ship.
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

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
  const uint64_t spread = draw & 0xffffffff;
  if (kind < 90) {
    return 8 + spread % 505;
  }
  return kind < 99 ? 512 + spread % 7680 : 8192 + spread % 73728;
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

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t pairs = argc > 1 ? strtoull(argv[1], nullptr, 10) : 3'000'000;
  const unsigned long threads = argc > 2 ? strtoul(argv[2], nullptr, 10) : 1;
  if (pairs == 0 || threads == 0 || threads > 16) {
    fprintf(stderr, "usage: storm [PAIRS [THREADS up to 16]]\n");
    return 2;
  }
  const double wall = seconds(CLOCK_MONOTONIC);
  const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
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
  const double all = static_cast<double>(pairs) * static_cast<double>(threads);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  printf("cpu_ns %.1f wall_ns %.1f rss_kb %ld check %llu\n",
         (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / all * 1e9,
         (seconds(CLOCK_MONOTONIC) - wall) / all * 1e9, usage.ru_maxrss,
         static_cast<unsigned long long>(check));
  return 0;
}
