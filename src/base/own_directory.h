// SPDX-License-Identifier: Apache-2.0
// Files at paths that a stranger chose: what may be replaced there, and what may be written to.
//
// Question. A watched job names a socket in its environment, and a watcher may run as root. Which
// file may be removed, made or written to at such a path without harm to anybody?
//
// Method. A directory is pinned by a descriptor and looked at through it, so that nobody can put
// another one in its place between the look and the deed. Ours is one that we own and that neither
// group nor others may write to: all names in it are our own doing. Only there is a socket made or
// removed, and only if it is a socket and ours. What is written to is pinned likewise and must be
// a socket of a user who is named.
//
// Worked case. Root watches a job of user 1000 with PLATEAU_SOCKET=/etc/passwd: the directory is
// root's, the file is no socket, it stays. With /home/u/d/x, where u makes d a link to /etc between
// look and unlink: the descriptor still names the old d.
//
// Blind spot. Root may change everything anyway, and is trusted.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/fd.h"

namespace plateau {

class OwnDirectory {
 public:
  // nullopt unless `path` is a directory of ours that nobody else may write to.
  static std::optional<OwnDirectory> open(const std::string& path);
  // The directory that `path` lies in.
  static std::optional<OwnDirectory> around(const std::string& path);

  // A name for `entry` that leads into this very directory, whatever became of its path. Valid
  // while this lives; short enough for a socket's address.
  [[nodiscard]] std::string reach(const std::string& entry) const;
  // Removes `entry` if it is a socket of ours. True if it is gone.
  [[nodiscard]] bool remove_socket(const std::string& entry) const;

 private:
  explicit OwnDirectory(Fd directory) : directory_(std::move(directory)) {}
  Fd directory_;
};

// The socket at `path`, pinned, if it is one and belongs to `owner`; else an Fd that is not open. A
// link is not followed. path_of_descriptor() of it can be sent to.
Fd pin_socket_of(const std::string& path, uid_t owner);

// "/proc/self/fd/7": leads to whatever `pinned` holds.
std::string path_of_descriptor(int pinned);

// "/run/x/steps" → "steps"; the whole text if there is no slash.
std::string last_part(const std::string& path);

}  // namespace plateau
