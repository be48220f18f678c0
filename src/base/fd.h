// SPDX-License-Identifier: Apache-2.0
// A file descriptor that closes itself. Move-only; -1 is "none".
#pragma once

#include <unistd.h>

#include <initializer_list>
#include <utility>

namespace plateau {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  explicit operator bool() const { return open(); }

  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

// Closes every descriptor from `first` on but these: for a forked child that must keep nothing else
// of its parent's alive.
void close_all_but(unsigned first, std::initializer_list<int> kept);

}  // namespace plateau
