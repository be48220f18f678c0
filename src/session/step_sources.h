// SPDX-License-Identifier: Apache-2.0
// Where a running job's steps can be had from: see watcher.h.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "import/line_clock.h"
#include "session/step_socket.h"

namespace plateau {

// Sockets named by PLATEAU_SOCKET in the environment of `pid`; empty if there are none, or if the
// environment may not be read. They are what the job says: at most 16 are taken, and nothing is
// done at them but by the rules of base/own_directory.h.
std::vector<std::string> sockets_of(pid_t pid, const std::string& proc);

// The user whose process `pid` is; nullopt if there is none.
std::optional<uid_t> owner_of(pid_t pid, const std::string& proc);

// The regular file behind a descriptor of a process. The link is what leads to that very file: the
// name may be another file's here, where the job lives in a container, or nobody's by now.
struct OutputFile {
  std::string link;  // "/proc/4242/fd/1"
  std::string name;  // For a reader.
};
std::optional<OutputFile> output_file_of(pid_t pid, int fd, const std::string& proc);

// Reads along a file that somebody else appends to. Starts a little before its end, so that the
// position is known at once; a file that shrinks (truncated, rotated) is read from its start.
class FileFollower {
 public:
  // `name` is for messages; empty: the path.
  static Result<FileFollower> open(const std::string& path, const std::string& name = "");

  // News since the last call, at most 1 MB of text.
  std::vector<LineClock::News> read();
  // Leaves out all that stands there by now.
  void skip_to_end();
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
