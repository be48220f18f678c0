// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/durable.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/fd.h"
#include "base/text.h"

namespace plateau::train {
namespace {

namespace fs = std::filesystem;

Error failed(std::string_view what, const fs::path& path, int code) {
  return {.kind = Error::Kind::not_found,
          .message = fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(code))};
}

fs::path beside(const fs::path& place, std::string_view kind) {
  return place.parent_path() /
         fmt::format(".{}.{}-{}", place.filename().string(), kind, ::getpid());
}

// The process id at the end of ".NAME.tmp-123" or ".NAME.old-123"; 0 for any other name.
int64_t owner_of(std::string_view name) {
  if (!name.starts_with('.')) return 0;
  for (const std::string_view kind : {".tmp-", ".old-"}) {
    const size_t at = name.rfind(kind);
    if (at == std::string_view::npos || at == 0) continue;
    return parse_int(name.substr(at + kind.size())).value_or(0);
  }
  return 0;
}

bool is_dead(int64_t pid) {
  if (pid == ::getpid()) return true;
  return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace

Result<std::monostate> write_durably(const fs::path& path, std::string_view bytes) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) return failed("create", path, errno);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("write", path, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  if (::fsync(file.get()) != 0) return failed("flush", path, errno);
  return std::monostate{};
}

Result<std::monostate> sync_directory(const fs::path& directory) {
  const fs::path path = directory.empty() ? fs::path(".") : directory;
  const Fd handle(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle) return failed("open", path, errno);
  if (::fsync(handle.get()) != 0) return failed("flush", path, errno);
  return std::monostate{};
}

Result<std::string> read_whole(const fs::path& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return failed("read", path, errno);
  std::string text;
  std::array<char, 65536> part{};
  while (true) {
    const ssize_t got = ::read(file.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", path, errno);
    if (got == 0) return text;
    text.append(part.data(), static_cast<size_t>(got));
  }
}

NewDirectory::NewDirectory(fs::path place, fs::path temporary)
    : place_(std::move(place)), temporary_(std::move(temporary)) {}

NewDirectory::NewDirectory(NewDirectory&& other) noexcept
    : place_(std::move(other.place_)), temporary_(std::exchange(other.temporary_, {})) {}

NewDirectory::~NewDirectory() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

Result<NewDirectory> NewDirectory::create(const fs::path& place) {
  std::error_code code;
  if (place.has_parent_path()) fs::create_directories(place.parent_path(), code);
  if (code) return failed("create", place.parent_path(), code.value());
  fs::path temporary = beside(place, "tmp");
  fs::remove_all(temporary, code);  // Of an earlier process that had our id.
  if (::mkdir(temporary.c_str(), 0755) != 0) return failed("create", temporary, errno);
  return NewDirectory(place, std::move(temporary));
}

Result<std::monostate> NewDirectory::publish() {
  if (auto flushed = sync_directory(temporary_); !flushed.ok()) return flushed;
  if (::rename(temporary_.c_str(), place_.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) return failed("rename to", place_, errno);
    // Both change names at one stroke; the old one then has the temporary name and is removed.
    if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, place_.c_str(), RENAME_EXCHANGE) != 0) {
      return failed("replace", place_, errno);
    }
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
  }
  temporary_.clear();
  return sync_directory(place_.parent_path());
}

Result<std::monostate> remove_directory(const fs::path& directory) {
  const fs::path hidden = beside(directory, "old");
  std::error_code code;
  fs::remove_all(hidden, code);
  if (::rename(directory.c_str(), hidden.c_str()) != 0) return failed("remove", directory, errno);
  fs::remove_all(hidden, code);
  if (code) return failed("remove", hidden, code.value());
  return std::monostate{};
}

int remove_leftovers(const fs::path& parent) {
  std::error_code code;
  std::vector<fs::path> dead;
  for (fs::directory_iterator it(parent, code), end; !code && it != end; it.increment(code)) {
    const int64_t pid = owner_of(it->path().filename().string());
    std::error_code ignored;
    if (pid > 0 && it->is_directory(ignored) && is_dead(pid)) dead.push_back(it->path());
  }
  int removed = 0;
  for (const fs::path& path : dead) {
    fs::remove_all(path, code);
    if (!code) ++removed;
  }
  return removed;
}

}  // namespace plateau::train
