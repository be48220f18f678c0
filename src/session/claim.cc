// SPDX-License-Identifier: Apache-2.0
#include "session/claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"

namespace plateau {

Result<Claim> Claim::on(const std::string& path) {
  struct stat info = {};
  const bool there = !path.empty() && stat(path.c_str(), &info) == 0;
  // Opening a named pipe would wait for its reader.
  if (path.empty() || (there && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))) {
    return Claim(path, false);
  }
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666));
  if (file) return Claim(path, !there);
  return Error{Error::Kind::not_found,
               fmt::format("cannot write {}: {}", path, std::strerror(errno))};
}

void Claim::withdraw() const {
  if (made_) unlink(path_.c_str());
}

}  // namespace plateau
