// SPDX-License-Identifier: Apache-2.0
// Real child processes for tests: forked, told what to do step by step, never left behind.
//
// The two sides talk over two pipes. A child that is not ended by the test is killed when the
// LiveProcess goes out of scope, by the kernel when its parent dies, and by an alarm
// after two minutes in any case.
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

namespace plateau {

// The child's end.
class Signal {
 public:
  Signal(int in, int out) : in_(in), out_(out) {}
  // Lets the parent's wait() return.
  void raise() const {
    if (write(out_, &said_, sizeof said_) != sizeof said_) _exit(0);
  }
  void say(pid_t pid) { said_ = pid; }  // Goes with the next raise().
  void wait_for_parent() const {
    char byte = 0;
    if (read(in_, &byte, 1) != 1) _exit(0);
  }

 private:
  int in_;
  int out_;
  pid_t said_ = 0;
};

// Called by a child that is to become an orphan.
inline void outlive_parent() {
  prctl(PR_SET_PDEATHSIG, 0);
}

class LiveProcess {
 public:
  // Forks, runs `body` in the child and exits. Returns once the child has raised its signal.
  explicit LiveProcess(const std::function<void(Signal&)>& body) {
    int down[2];
    int up[2];
    if (pipe(down) != 0 || pipe(up) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      alarm(120);
      close(down[1]);
      close(up[0]);
      Signal signal(down[0], up[1]);
      body(signal);
      _exit(0);
    }
    close(down[0]);
    close(up[1]);
    to_child_ = down[1];
    from_child_ = up[0];
    wait();
  }
  LiveProcess(const LiveProcess&) = delete;
  LiveProcess& operator=(const LiveProcess&) = delete;
  ~LiveProcess() {
    end();
    close(to_child_);
    close(from_child_);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] pid_t said() const { return said_; }
  void tell() const {
    const char byte = 1;
    if (write(to_child_, &byte, 1) != 1) std::abort();
  }
  void wait() {
    if (read(from_child_, &said_, sizeof said_) != sizeof said_) said_ = 0;
  }
  // Ends it and takes its exit code, so that no zombie is left.
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void wait_for_zombie() const {
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  // It outlives this object; somebody else ends it by the pid returned.
  [[nodiscard]] pid_t leave() { return std::exchange(pid_, 0); }

 private:
  pid_t pid_ = 0;
  pid_t said_ = 0;
  int to_child_ = -1;
  int from_child_ = -1;
};

// Touched private memory of so many MiB in pages of 4 kB, however the machine sets huge pages.
class Ballast {
 public:
  explicit Ballast(size_t mib) : bytes_(mib << 20) {
    at_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(at_, bytes_, MADV_NOHUGEPAGE);
    std::memset(at_, 1, bytes_);
  }
  Ballast(const Ballast&) = delete;
  Ballast& operator=(const Ballast&) = delete;
  ~Ballast() { munmap(at_, bytes_); }

  void* data() { return at_; }

 private:
  size_t bytes_;
  void* at_;
};

}  // namespace plateau
