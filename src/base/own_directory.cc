// SPDX-License-Identifier: Apache-2.0
#include "base/own_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace plateau {

std::optional<OwnDirectory> OwnDirectory::open(const std::string& path) {
  Fd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat info = {};
  if (!directory || fstat(directory.get(), &info) != 0) return std::nullopt;
  const bool others_write = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (info.st_uid != geteuid() || others_write) return std::nullopt;
  return OwnDirectory(std::move(directory));
}

std::optional<OwnDirectory> OwnDirectory::around(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return open(".");
  return open(path.substr(0, slash + 1));
}

std::string OwnDirectory::reach(const std::string& entry) const {
  return path_of_descriptor(directory_.get()) + "/" + entry;
}

bool OwnDirectory::remove_socket(const std::string& entry) const {
  struct stat info = {};
  if (fstatat(directory_.get(), entry.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT;
  }
  if (!S_ISSOCK(info.st_mode) || info.st_uid != geteuid()) return false;
  return unlinkat(directory_.get(), entry.c_str(), 0) == 0;
}

Fd pin_socket_of(const std::string& path, uid_t owner) {
  Fd pinned(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat info = {};
  const bool fits =
      pinned && fstat(pinned.get(), &info) == 0 && S_ISSOCK(info.st_mode) && info.st_uid == owner;
  return fits ? std::move(pinned) : Fd();
}

std::string path_of_descriptor(int pinned) {
  return "/proc/self/fd/" + std::to_string(pinned);
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace plateau
