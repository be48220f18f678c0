// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.h"

namespace plateau {

std::string read_file_at(int dir, const std::string& path, int& error) {
  const Fd file(openat(dir, path.c_str(), O_RDONLY | O_CLOEXEC));
  error = file ? 0 : errno;
  std::string text;
  size_t used = 0;
  while (error == 0) {
    constexpr size_t kLeastRoom = 32768;
    if (text.size() - used < kLeastRoom) text.resize(std::max(text.size() * 2, 2 * kLeastRoom));
    const ssize_t got = read(file.get(), text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    used += static_cast<size_t>(got);
  }
  text.resize(used);
  return text;
}

std::string text_of_file(const std::string& path) {
  int error = 0;
  std::string text = read_file_at(AT_FDCWD, path, error);
  return error == 0 ? text : std::string();
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return wrote < 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return 0;
}

}  // namespace plateau
