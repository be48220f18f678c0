// SPDX-License-Identifier: Apache-2.0
// What the tests of this room share: work in a process of its own, and pipes read to their end.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "base/fd.h"
#include "base/testing/scratch_directory.h"

namespace plateau {

// Runs `body` in a forked child and returns its exit code (128 + signal if it died of one).
inline int in_child(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    _exit(body());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    out = Fd(ends[0]);
    in = Fd(ends[1]);
  }
  Fd out;  // To read from.
  Fd in;   // To write to.
};

inline std::string read_to_end(int fd) {
  std::string all;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n <= 0) return all;
    all.append(buffer.data(), static_cast<size_t>(n));
  }
}

// All that a non-blocking descriptor gives until `size` bytes have come, or for 10 s.
inline std::string read_some(int fd, size_t size) {
  std::string all;
  std::array<char, 65536> buffer{};
  while (all.size() < size) {
    pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 10'000) <= 0) break;
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n <= 0) break;
    all.append(buffer.data(), static_cast<size_t>(n));
  }
  return all;
}

inline void write_text(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

inline std::string random_bytes(size_t size) {
  std::mt19937 random(7);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

}  // namespace plateau
