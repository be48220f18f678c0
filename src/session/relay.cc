// SPDX-License-Identifier: Apache-2.0
#include "session/relay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace plateau {
namespace {

constexpr int kSizeCheckMs = 250;        // A size change is rare and not urgent.
constexpr int kCopyPipeBytes = 1 << 20;  // About a second of a very talkative job.

bool write_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      // Somebody else made the destination non-blocking; wait as a blocking write would.
      pollfd ready = {.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (n < 0) return false;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

// The watcher's copy; gives up for good once the watcher is gone.
class Copy {
 public:
  explicit Copy(int fd) : fd_(fd) {}

  void put(const char* data, size_t size) {
    if (fd_ < 0) return;
    if (broken_ && write(fd_, "\n", 1) == 1) broken_ = false;
    if (broken_) return;
    const ssize_t n = write(fd_, data, size);
    if (n < 0 && errno != EAGAIN && errno != EINTR) fd_ = -1;
    broken_ = n != static_cast<ssize_t>(size);
  }

 private:
  int fd_;
  bool broken_ = false;  // Bytes were dropped since the last complete write.
};

void copy_until_end(int from, int sink, bool terminal, Copy copy, pid_t job_group) {
  std::array<char, 65536> buffer{};
  while (true) {
    if (terminal) {
      pollfd ready = {.fd = from, .events = POLLIN, .revents = 0};
      const int events = poll(&ready, 1, kSizeCheckMs);
      if (copy_terminal_size(sink, from) && job_group > 0) kill(-job_group, SIGWINCH);
      if (events <= 0) continue;
    }
    const ssize_t n = read(from, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // A pseudo-terminal without writers reads as an error, a pipe as 0.
    if (!write_all(sink, buffer.data(), static_cast<size_t>(n))) return;
    copy.put(buffer.data(), static_cast<size_t>(n));
  }
}

[[noreturn]] void relay_main(int from, int sink, bool terminal, int copy, pid_t job_group) {
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP, SIGTTOU, SIGTTIN, SIGPIPE,
                           SIGUSR1, SIGUSR2, SIGALRM}) {
    std::signal(number, SIG_IGN);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_NAME, "plateau-relay");
  // It must not keep the other channel, the recording or the step socket alive.
  close_all_but(0, {from, sink, copy});
  copy_until_end(from, sink, terminal, Copy(copy), job_group);
  _exit(0);
}

}  // namespace

Channel spare_of(const Channel& channel) {
  Channel spare;
  spare.our_end = Fd(fcntl(channel.our_end.get(), F_DUPFD_CLOEXEC, 0));
  spare.sink = channel.sink;
  spare.terminal = channel.terminal;
  spare.carries_stdout = channel.carries_stdout;
  spare.carries_stderr = channel.carries_stderr;
  return spare;
}

Result<Relay> start_relay(Channel& channel, pid_t job_group) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return Error{Error::Kind::not_found, fmt::format("cannot open a pipe: {}", strerror(errno))};
  }
  Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  fcntl(write_end.get(), F_SETPIPE_SZ, kCopyPipeBytes);
  const pid_t pid = fork();
  if (pid < 0) {
    return Error{Error::Kind::not_found, fmt::format("cannot fork: {}", strerror(errno))};
  }
  if (pid == 0) {
    relay_main(channel.our_end.get(), channel.sink, channel.terminal, write_end.get(), job_group);
  }
  channel.our_end.reset();
  return Relay{pid, std::move(read_end), {}};
}

}  // namespace plateau
