// SPDX-License-Identifier: Apache-2.0
// Where a running job's steps can be had from: see watcher.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "import/line_clock.h"
#include "session/step_socket.h"

namespace plateau {

// Sockets named by PLATEAU_SOCKET in the environment of `pid`; empty if there are none, or if the
// environment may not be read.
std::vector<std::string> sockets_of(pid_t pid, const std::string& proc);

// The regular file behind descriptor `fd` of `pid`, if it is one.
std::optional<std::string> output_file_of(pid_t pid, int fd, const std::string& proc);

// Reads along a file that somebody else appends to. Starts a little before its end, so that the
// position is known at once; a file that shrinks (truncated, rotated) is read from its start.
class FileFollower {
 public:
  static Result<FileFollower> open(const std::string& path);

  // News since the last call, at most 1 MB of text.
  std::vector<LineClock::News> read();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  FileFollower(std::string path, Fd file, int64_t offset)
      : path_(std::move(path)), file_(std::move(file)), offset_(offset) {}

  std::string path_;
  Fd file_;
  int64_t offset_;
  OutputClock clock_;
};

}  // namespace plateau
