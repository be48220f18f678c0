// SPDX-License-Identifier: Apache-2.0
#include "session/channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

#include <cerrno>
#include <cstring>

namespace plateau {
namespace {

bool same_target(int a, int b) {
  struct stat first = {};
  struct stat second = {};
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

Error no_channel(const char* what) {
  return {Error::Kind::not_found,
          fmt::format("cannot open a {} for the job's output: {}", what, std::strerror(errno))};
}

Result<Channel> open_channel(int sink) {
  Channel channel;
  channel.sink = sink;
  channel.terminal = isatty(sink) == 1;
  if (!channel.terminal) {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return no_channel("pipe");
    channel.our_end = Fd(ends[0]);
    channel.job_end = Fd(ends[1]);
    return channel;
  }
  termios raw = {};
  tcgetattr(sink, &raw);
  cfmakeraw(&raw);
  winsize size = {};
  ioctl(sink, TIOCGWINSZ, &size);
  int master = -1;
  int slave = -1;
  if (openpty(&master, &slave, nullptr, &raw, &size) != 0) return no_channel("pseudo-terminal");
  channel.our_end = Fd(master);
  channel.job_end = Fd(slave);
  fcntl(master, F_SETFD, FD_CLOEXEC);
  fcntl(slave, F_SETFD, FD_CLOEXEC);
  return channel;
}

}  // namespace

Result<std::vector<Channel>> open_channels() {
  std::vector<Channel> channels;
  Result<Channel> out = open_channel(STDOUT_FILENO);
  if (!out) return out.error();
  out.value().carries_stdout = true;
  const bool together = same_target(STDOUT_FILENO, STDERR_FILENO);
  out.value().carries_stderr = together;
  channels.push_back(std::move(out.value()));
  if (!together) {
    Result<Channel> err = open_channel(STDERR_FILENO);
    if (!err) return err.error();
    err.value().carries_stderr = true;
    channels.push_back(std::move(err.value()));
  }
  return channels;
}

bool copy_terminal_size(int from, int to) {
  winsize wanted = {};
  winsize current = {};
  if (ioctl(from, TIOCGWINSZ, &wanted) != 0 || ioctl(to, TIOCGWINSZ, &current) != 0) return false;
  if (std::memcmp(&wanted, &current, sizeof wanted) == 0) return false;
  return ioctl(to, TIOCSWINSZ, &wanted) == 0;
}

}  // namespace plateau
