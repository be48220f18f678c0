// SPDX-License-Identifier: Apache-2.0
// The Unix datagram socket on which a watcher hears a training loop (docs/formats/step-clock.md).
//
// A StepSocket owns a private directory (mode 0700, "plateau-PID-XXXXXX" under $XDG_RUNTIME_DIR or
// /tmp) and the socket in it; its path is what goes into PLATEAU_SOCKET. Both are removed when the
// owner goes, and create() sweeps up what watchers that were killed have left behind. A forked
// child that inherits the object removes nothing.
//
// Nothing here blocks. A sender whose words come faster than receive() is called finds the kernel's
// queue full (net.unix.max_dgram_qlen datagrams, often 10; SO_RCVBUF has no say for Unix sockets)
// and drops them on its side; it reports that as the gauge client.lost. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/own_directory.h"
#include "base/result.h"
#include "session/step_words.h"

namespace plateau {

class StepSocket {
 public:
  // Under $XDG_RUNTIME_DIR if that is usable and short enough, else under /tmp. Fails if neither
  // can hold a socket.
  static Result<StepSocket> create();
  // In a fresh directory under `base`, an absolute path of at most 70 bytes or so.
  static Result<StepSocket> create_under(const std::string& base);

  // At a path that a job was told before anybody listened. Fails if somebody does, if the directory
  // is not ours alone to change (base/own_directory.h), or if there is anything but a socket of
  // ours. Removes only that socket when the owner goes.
  static Result<StepSocket> listen_at(const std::string& path);

  StepSocket(StepSocket&& other) noexcept;
  StepSocket& operator=(StepSocket&& other) noexcept;
  StepSocket(const StepSocket&) = delete;
  StepSocket& operator=(const StepSocket&) = delete;
  ~StepSocket();

  // For poll(): readable when words wait.
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  // The words that wait, oldest first, from at most 512 datagrams; a caller whose fd() stays
  // readable calls again. A datagram may hold several lines. `pid` is the line's own if it has one,
  // else the sender's as the kernel tells it, else -1 (a sender outside this pid namespace).
  std::vector<StepWords> receive();

  // Lines that were not understood, and datagrams over 64 KB whose end was lost. Since creation.
  [[nodiscard]] uint64_t malformed() const { return malformed_; }
  [[nodiscard]] uint64_t cut() const { return cut_; }

 private:
  StepSocket() = default;
  std::optional<Error> bind_to(const std::string& path);
  void close_and_remove();
  void take_lines(std::string_view datagram, int64_t pid, int64_t uid,
                  std::vector<StepWords>& words);

  int fd_ = -1;
  int64_t owner_pid_ = -1;
  std::string directory_, path_;
  std::optional<OwnDirectory> own_;  // Where path_ is, unless directory_ is all ours.
  std::vector<char> buffer_;
  uint64_t malformed_ = 0, cut_ = 0;
};

// Removes directories of dead watchers under `base`: named plateau-PID-*, ours, with no such
// process and nobody listening. Returns how many went. create() calls it.
int sweep_step_sockets(const std::string& base);

}  // namespace plateau
