// SPDX-License-Identifier: Apache-2.0
// What the C++ leakers share: arguments, a paced step loop, and the words to the watcher.
//
// Words go to the Unix datagram socket that PLATEAU_SOCKET names, one line a datagram. Sending
// never blocks and never fails the program; without the variable nothing is sent. Plain sockets on
// purpose: the clients have tests of their own, and a leaker must not depend on what it helps to
// test. Not thread-safe; use it from main's thread.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace leaker {

// The shape of a run. Memory sizes are the business of each program.
struct Plan {
  int steps = 600;
  int epoch_steps = 150;
  int batch = 4;
  double step_s = 0.018;
  bool words = true;  // False: nothing is sent; the program prints its progress instead.

  // --steps N and --seconds S stretch or shorten the run; anything else ends the program.
  Plan& read(int argc, char** argv) {
    double seconds = 0;
    for (int i = 1; i < argc; ++i) {
      const std::string_view name = argv[i];
      if (i + 1 < argc && name == "--steps") {
        steps = std::atoi(argv[++i]);
      } else if (i + 1 < argc && name == "--seconds") {
        seconds = std::atof(argv[++i]);
      } else {
        std::fprintf(stderr, "usage: %s [--steps N] [--seconds S]\n", argv[0]);
        std::exit(2);
      }
    }
    if (seconds > 0) step_s = seconds / steps;
    return *this;
  }
};

class Loop {
 public:
  explicit Loop(const Plan& plan) : plan_(plan) {
    if (plan.words) connect_words();
    say("run total_steps=" + std::to_string(plan.steps) + " examples=" +
        std::to_string(plan.epoch_steps * plan.batch) + " batch=" + std::to_string(plan.batch));
    say("step 0 epoch=0");
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    if (fd_ >= 0) close(fd_);
  }

  // Calls `work` with 1, 2, ... at a fixed pace and announces each step when it has ended.
  void run(const std::function<void(int step)>& work) {
    for (int step = 1; step <= plan_.steps; ++step) {
      const auto began = std::chrono::steady_clock::now();
      work(step);
      char line[64];
      std::snprintf(line, sizeof line, "step %d epoch=%.4f", step,
                    static_cast<double>(step) / plan_.epoch_steps);
      say(line);
      std::this_thread::sleep_until(began + std::chrono::duration<double>(plan_.step_s));
    }
  }

  void say(const std::string& line) const {
    if (fd_ < 0) return;
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_size_);
    (void)sendto(fd_, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address_), length);
  }

  // Time passes, as many steps long, without a step: an evaluation, a save.
  void pause(int steps) const {
    std::this_thread::sleep_for(std::chrono::duration<double>(steps * plan_.step_s));
  }

 private:
  void connect_words() {
    const char* path = std::getenv("PLATEAU_SOCKET");
    if (path == nullptr || *path == '\0' || std::strlen(path) >= sizeof address_.sun_path) return;
    address_.sun_family = AF_UNIX;
    path_size_ = std::strlen(path);
    std::memcpy(address_.sun_path, path, path_size_);
    if (path[0] == '@') {
      address_.sun_path[0] = '\0';  // An abstract name has no file and no final zero.
    } else {
      ++path_size_;
    }
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  }

  Plan plan_;
  int fd_ = -1;
  sockaddr_un address_{};
  size_t path_size_ = 0;
};

// Writes every page, so that memory is resident and not merely promised.
inline void touch(void* memory, size_t bytes) {
  auto* page = static_cast<volatile unsigned char*>(memory);
  for (size_t at = 0; at < bytes; at += 4096) page[at] = static_cast<unsigned char>(at >> 12U);
}

// `kb` KiB on the heap, every page written; the caller frees it with std::free, or does not.
inline void* block(size_t kb) {
  void* memory = std::malloc(kb * 1024);
  if (memory == nullptr) std::abort();
  touch(memory, kb * 1024);
  return memory;
}

// A small generator that gives the same numbers on every machine (splitmix64).
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  int below(int end) { return static_cast<int>(uniform() * end); }

 private:
  uint64_t state_;
};

}  // namespace leaker
