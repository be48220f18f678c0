// SPDX-License-Identifier: Apache-2.0
#include "session/claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"

namespace plateau {
namespace {

constexpr mode_t kMode = 0600;
constexpr int kMostTries = 1000;
constexpr std::string_view kSuffix = ".plateau";

Error cannot_write(const std::string& path) {
  return {Error::Kind::not_found, fmt::format("cannot write {}: {}", path, std::strerror(errno))};
}

}  // namespace

std::optional<Error> holds_something(const std::string& path) {
  struct stat info = {};
  const bool there = !path.empty() && stat(path.c_str(), &info) == 0;
  if (!there || !S_ISREG(info.st_mode) || info.st_size == 0) return std::nullopt;
  return usage_error(path + " exists; --force replaces it");
}

Result<Claim> Claim::on(const std::string& path, bool replaced) {
  struct stat info = {};
  const bool there = !path.empty() && stat(path.c_str(), &info) == 0;
  // Opening a named pipe would wait for its reader.
  if (path.empty() || (there && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))) {
    return Claim(path, false);
  }
  if (!replaced) {
    if (std::optional<Error> held = holds_something(path)) return *held;
  }
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, kMode));
  if (!file) return cannot_write(path);
  return Claim(path, !there);
}

Result<Claim> Claim::on_free(const std::string& path) {
  const std::string stem =
      path.ends_with(kSuffix) ? path.substr(0, path.size() - kSuffix.size()) : path;
  for (int number = 1; number <= kMostTries; ++number) {
    const std::string name = number == 1 ? path : fmt::format("{}-{}{}", stem, number, kSuffix);
    const Fd file(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
    if (file) return Claim(name, true);
    if (errno != EEXIST) break;
  }
  return cannot_write(path);
}

void Claim::withdraw() const {
  if (made_) unlink(path_.c_str());
}

}  // namespace plateau
