// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/files.h"
#include "push/courier.h"

namespace plateau::push {

std::string replace_textfile(const std::string& path, const std::string& text) {
  const size_t name = path.rfind('/') + 1;
  // The collector reads what ends in .prom, and this does not.
  const std::string beside =
      fmt::format("{}.{}.{}.tmp", path.substr(0, name), path.substr(name), getpid());
  const auto failed = [&beside, &path](int error) {
    unlink(beside.c_str());
    return fmt::format("{}: {}", path, strerror(error));
  };
  unlink(beside.c_str());
  Fd file(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file) return failed(errno);
  if (const int error = write_all(file.get(), text); error != 0) return failed(error);
  fchmod(file.get(), 0644);
  file.reset();
  if (rename(beside.c_str(), path.c_str()) != 0) return failed(errno);
  return "";
}

}  // namespace plateau::push
