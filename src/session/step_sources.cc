// SPDX-License-Identifier: Apache-2.0
#include "session/step_sources.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "base/text.h"
#include "session/machine.h"

namespace plateau {
namespace {

constexpr int64_t kLookBackBytes = int64_t{64} * 1024;
constexpr size_t kMaxReadBytes = 1 << 20;
constexpr size_t kMaxEnvironmentBytes = size_t{8} << 20;  // The kernel allows 6 MB.
constexpr size_t kMaxSockets = 16;
constexpr std::string_view kVariable = "PLATEAU_SOCKET=";

}  // namespace

std::vector<std::string> sockets_of(pid_t pid, const std::string& proc) {
  const std::string environment =
      text_of_file(fmt::format("{}/{}/environ", proc, pid), kMaxEnvironmentBytes);
  std::vector<std::string> paths;
  std::string_view rest = environment;
  while (!rest.empty()) {
    const std::string_view entry = take_part(rest, '\0');
    if (!entry.starts_with(kVariable)) continue;
    std::string_view list = entry.substr(kVariable.size());
    while (!list.empty()) {
      const std::string_view path = take_part(list, ':');
      if (path.starts_with('/') && paths.size() < kMaxSockets) paths.emplace_back(path);
    }
  }
  return paths;
}

std::optional<uid_t> owner_of(pid_t pid, const std::string& proc) {
  struct stat info = {};
  if (stat(fmt::format("{}/{}", proc, pid).c_str(), &info) != 0) return std::nullopt;
  return info.st_uid;
}

std::optional<OutputFile> output_file_of(pid_t pid, int fd, const std::string& proc) {
  const std::string link = fmt::format("{}/{}/fd/{}", proc, pid, fd);
  struct stat info = {};
  if (stat(link.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const std::string name = link_target(link);
  if (name.empty()) return std::nullopt;
  return OutputFile{link, name};
}

Result<FileFollower> FileFollower::open(const std::string& path, const std::string& name) {
  const std::string& called = name.empty() ? path : name;
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat info = {};
  if (!file || fstat(file.get(), &info) != 0) {
    return Error{Error::Kind::not_found, fmt::format("{}: {}", called, std::strerror(errno))};
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{Error::Kind::bad_input, called + ": not a regular file"};
  }
  return FileFollower(called, std::move(file), std::max<int64_t>(0, info.st_size - kLookBackBytes));
}

void FileFollower::skip_to_end() {
  struct stat info = {};
  if (fstat(file_.get(), &info) == 0) offset_ = info.st_size;
}

std::vector<LineClock::News> FileFollower::read() {
  struct stat info = {};
  if (fstat(file_.get(), &info) == 0 && info.st_size < offset_) offset_ = 0;
  std::vector<LineClock::News> all;
  std::array<char, 65536> buffer{};
  for (size_t total = 0; total < kMaxReadBytes;) {
    const ssize_t n = pread(file_.get(), buffer.data(), buffer.size(), offset_);
    if (n <= 0) break;
    offset_ += n;
    total += static_cast<size_t>(n);
    std::vector<LineClock::News> news =
        clock_.read(std::string_view(buffer.data(), static_cast<size_t>(n)));
    all.insert(all.end(), std::make_move_iterator(news.begin()),
               std::make_move_iterator(news.end()));
  }
  return all;
}

}  // namespace plateau
