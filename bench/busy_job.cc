// SPDX-License-Identifier: Apache-2.0
// A job to be watched, for run_overhead.sh.
//
//   busy_job MB                     a fixed amount of work over MB of touched memory, with mmap and
//                                   munmap now and then; prints its CPU and wall-clock seconds
//   busy_job MB CHILDREN SECONDS    MB in each of 1 + CHILDREN processes; each touches and frees
//                                   some pages every 10 ms for so long
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kToggled = 8 << 20;
constexpr int kRounds = 15;

double clock_s(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

unsigned char* map(size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) std::exit(2);
  // Small pages: the most page-table entries for a walk to visit, the worst case for the job.
  madvise(at, bytes, MADV_NOHUGEPAGE);
  return static_cast<unsigned char*>(at);
}

uint64_t work(unsigned char* memory, size_t bytes) {
  uint64_t sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (size_t at = 0; at < bytes; at += 64) sum = sum * 31 + memory[at];
    unsigned char* fresh = map(kToggled);
    for (size_t at = 0; at < kToggled; at += kPage) fresh[at] = static_cast<unsigned char>(sum);
    munmap(fresh, kToggled);
  }
  return sum;
}

void live(double until_s) {
  constexpr size_t kLively = 1 << 20;
  unsigned char* at = map(kLively);
  for (size_t pages = 1; clock_s(CLOCK_MONOTONIC) < until_s; pages = pages % 200 + 1) {
    std::memset(at, 1, pages * kPage);
    usleep(10'000);
    madvise(at, kLively, MADV_DONTNEED);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) return 2;
  const size_t bytes = static_cast<size_t>(std::atol(argv[1])) << 20;
  const double begin_s = clock_s(CLOCK_MONOTONIC);
  if (argc == 4) {
    const double until_s = begin_s + std::atof(argv[3]);
    for (int child = 0; child < std::atoi(argv[2]); ++child) {
      if (fork() != 0) continue;
      std::memset(map(bytes), 1, bytes);
      live(until_s);
      _exit(0);
    }
    std::memset(map(bytes), 1, bytes);
    live(until_s);
    while (wait(nullptr) > 0) {
    }
    return 0;
  }
  unsigned char* memory = map(bytes);
  std::memset(memory, 1, bytes);
  const uint64_t sum = work(memory, bytes);
  if (sum == 1) std::puts("");
  std::printf("%.6f %.6f\n", clock_s(CLOCK_PROCESS_CPUTIME_ID), clock_s(CLOCK_MONOTONIC) - begin_s);
  return 0;
}
