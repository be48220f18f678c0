// SPDX-License-Identifier: Apache-2.0
// A program that notices when it is disturbed.
//
//   inject_target WHAT...
// Each word starts a thread: storm (malloc and free), float (a checksum in vector registers, with
// allocations), sleep (nanosleep, checked not to end early), poll, epoll, read, semaphore, signals
// (counts its own SIGUSR1), spin (neither allocates nor sleeps). "spin-main" makes the main thread
// spin instead of waiting; "retain" frees most of 100 MB first, "hold" keeps it.
//
// Says "ready", ends at SIGTERM, and prints a line of counts: interrupted calls, wrong checksums,
// sleeps that ended early. Exit code 0 only if all of them are 0.
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> over{false};
std::atomic<long> interrupted{0};
std::atomic<long> wrong{0};
std::atomic<long> early{0};
std::atomic<long> rounds{0};
std::atomic<long> sent{0};
std::atomic<long> received{0};
int bell[2];
sem_t gate;

void note(long result) {
  if (result < 0 && errno == EINTR) ++interrupted;
  ++rounds;
}

void storm() {
  unsigned seed = 7;
  std::vector<char*> blocks(512);
  while (!over) {
    seed = seed * 1664525 + 1013904223;
    char*& block = blocks[(seed >> 8) % blocks.size()];
    free(block);
    block = static_cast<char*>(malloc((seed >> 16) % 3000 + 1));
    *block = 1;
    ++rounds;
  }
  for (char* block : blocks) free(block);
}

double checksum() {
  double sum[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int i = 0; i < 20000; ++i) {
    for (double& s : sum) s = s * 0.9999991 + std::sqrt(s) * 1e-6;
    if (i % 200 == 0) {
      void* block = malloc(static_cast<size_t>(64 + i % 512));
      asm volatile("" ::"r"(block) : "memory");
      free(block);
    }
  }
  double all = 0;
  for (const double s : sum) all += s;
  return all;
}

void floats() {
  const double first = checksum();
  while (!over) {
    if (checksum() != first) ++wrong;
    ++rounds;
  }
}

void sleeper() {
  while (!over) {
    timespec before{};
    timespec after{};
    const timespec pause{.tv_sec = 0, .tv_nsec = 30'000'000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    note(nanosleep(&pause, nullptr));
    clock_gettime(CLOCK_MONOTONIC, &after);
    const double slept = static_cast<double>(after.tv_sec - before.tv_sec) +
                         static_cast<double>(after.tv_nsec - before.tv_nsec) * 1e-9;
    if (slept < 0.03) ++early;
  }
}

void poller() {
  while (!over) {
    pollfd one{.fd = bell[0], .events = 0, .revents = 0};
    note(poll(&one, 1, 50));
  }
}

void epoller() {
  const int set = epoll_create1(0);
  while (!over) {
    epoll_event event{};
    note(epoll_wait(set, &event, 1, 50));
  }
}

void reader() {
  char byte = 0;
  while (!over) note(read(bell[0], &byte, 1));
}

void waiter() {
  while (!over) {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    note(sem_timedwait(&gate, &until));
  }
}

void signaller() {
  while (!over) {
    ++sent;
    pthread_kill(pthread_self(), SIGUSR1);
    void* block = malloc(100);
    asm volatile("" ::"r"(block) : "memory");
    free(block);
    ++rounds;
  }
}

void spin() {
  while (!over) ++rounds;
}

void fill(bool keep) {
  std::vector<char*> blocks;
  for (int i = 0; i < 50000; ++i) {
    blocks.push_back(static_cast<char*>(malloc(2000)));
    memset(blocks.back(), 1, 2000);
  }
  if (keep) return;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i % 64 != 0) free(blocks[i]);
  }
}

void (*thread_for(const std::string& word))() {
  if (word == "storm") return storm;
  if (word == "float") return floats;
  if (word == "sleep") return sleeper;
  if (word == "poll") return poller;
  if (word == "epoll") return epoller;
  if (word == "read") return reader;
  if (word == "semaphore") return waiter;
  if (word == "signals") return signaller;
  return word == "spin" ? spin : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, nullptr);
  struct sigaction count = {};
  count.sa_handler = [](int) { ++received; };
  sigaction(SIGUSR1, &count, nullptr);
  if (pipe(bell) != 0 || sem_init(&gate, 0, 0) != 0) return 2;
  bool spin_main = false;
  std::vector<std::thread> threads;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "retain" || word == "hold") fill(word == "hold");
    if (word == "spin-main") spin_main = true;
    if (auto* work = thread_for(word)) threads.emplace_back(work);
  }
  puts("ready");
  fflush(stdout);
  sigset_t pending;
  do {
    // A system call of no length, so that it can be ended, now and then.
    for (int i = 0; spin_main && i < 50'000'000; ++i) asm volatile("");
    sigpending(&pending);
  } while (spin_main && sigismember(&pending, SIGTERM) == 0);
  int got = 0;
  sigwait(&term, &got);
  over = true;
  if (write(bell[1], "xxxxxxxx", 8) != 8) return 2;
  for (std::thread& thread : threads) thread.join();
  const long lost = sent - received;
  printf("interrupted %ld wrong %ld early %ld lost %ld\n", interrupted.load(), wrong.load(),
         early.load(), lost);
  return interrupted == 0 && wrong == 0 && early == 0 && lost == 0 ? 0 : 1;
}
