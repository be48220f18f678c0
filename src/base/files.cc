// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>

#include "base/fd.h"
#include "base/text.h"

namespace plateau {

std::string read_file_at(int dir, const std::string& path, int& error, size_t most) {
  const Fd file(openat(dir, path.c_str(), O_RDONLY | O_CLOEXEC));
  error = file ? 0 : errno;
  std::string text;
  size_t used = 0;
  while (error == 0 && used < most) {
    constexpr size_t kLeastRoom = 32768;
    if (text.size() - used < kLeastRoom) text.resize(std::max(text.size() * 2, 2 * kLeastRoom));
    const ssize_t got =
        read(file.get(), text.data() + used, std::min(text.size() - used, most - used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    used += static_cast<size_t>(got);
  }
  text.resize(used);
  return text;
}

std::string text_of_file(const std::string& path, size_t most) {
  int error = 0;
  std::string text = read_file_at(AT_FDCWD, path, error, most);
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

std::string link_target(const std::string& path) {
  std::array<char, PATH_MAX> link{};
  const ssize_t length = readlink(path.c_str(), link.data(), link.size());
  return {link.data(), length > 0 ? static_cast<size_t>(length) : 0};
}

std::vector<pid_t> pids_in(const std::string& directory) {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(directory.c_str()), closedir);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one stream, one thread.
  while (const dirent* entry = listing ? readdir(listing.get()) : nullptr) {
    const auto pid = parse_digits(entry->d_name, 10);
    if (pid && *pid > 0 && *pid <= 0x7fffffff) pids.push_back(static_cast<pid_t>(*pid));
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

}  // namespace plateau
