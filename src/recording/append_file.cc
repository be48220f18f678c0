// SPDX-License-Identifier: Apache-2.0
#include "recording/append_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace plateau {
namespace {

constexpr mode_t kMode = 0600;

Error cannot_write(const std::string& path) {
  return {Error::Kind::not_found, fmt::format("cannot write {}: {}", path, std::strerror(errno))};
}

// 0, or errno; `written` counts what got out.
int write_all(int fd, std::string_view bytes, size_t& written) {
  written = 0;
  while (written < bytes.size()) {
    const ssize_t got = ::write(fd, bytes.data() + written, bytes.size() - written);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return ENOSPC;
    written += static_cast<size_t>(got);
  }
  return 0;
}

std::string resolved(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::string(real.get()) : path;
}

void sync_directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) ::fsync(fd.get());
}

}  // namespace

std::string replacement_path(const std::string& path) {
  return path + ".rewrite";
}

Result<AppendFile> AppendFile::create(const std::string& path, bool replaced) {
  AppendFile file;
  file.fd_ = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, kMode));
  struct stat about{};
  if (!file.fd_ || ::fstat(file.fd_.get(), &about) != 0) return cannot_write(path);
  file.regular_ = S_ISREG(about.st_mode);
  file.target_ = resolved(path);
  if (!file.regular_) return file;
  // Held for as long as the file is open: two writers of one file would spoil each other's work.
  if (::flock(file.fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return usage_error(fmt::format("{} is being written by another plateau", path));
  }
  if (::fstat(file.fd_.get(), &about) != 0) return cannot_write(path);
  if (about.st_size > 0 && !replaced) {
    return usage_error(fmt::format("{} exists; --force replaces it", path));
  }
  if (about.st_size > 0 && ::ftruncate(file.fd_.get(), 0) != 0) return cannot_write(path);
  // Command lines and names are nobody else's business. A file of another owner keeps its mode.
  if (about.st_uid == ::geteuid()) (void)::fchmod(file.fd_.get(), kMode);
  ::unlink(replacement_path(file.target_).c_str());
  return file;
}

std::string AppendFile::append(std::string_view bytes) {
  size_t written = 0;
  const int error = write_all(fd_.get(), bytes, written);
  if (error == 0) {
    size_ += written;
    return "";
  }
  if (written > 0 && regular_ && ::ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0) {
    size_ += written;
  }
  return std::strerror(error);
}

std::string AppendFile::replace(std::string_view bytes) {
  const std::string beside = replacement_path(target_);
  ::unlink(beside.c_str());
  Fd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
               kMode));
  struct stat about{};
  if (!fd || ::fstat(fd_.get(), &about) != 0) return std::strerror(errno);
  size_t written = 0;
  int error = write_all(fd.get(), bytes, written);
  // What its owner has allowed meanwhile stays allowed.
  if (error == 0 && ::fchmod(fd.get(), about.st_mode & 07777) != 0) error = errno;
  (void)::flock(fd.get(), LOCK_EX | LOCK_NB);
  if (error == 0 && ::fsync(fd.get()) != 0) error = errno;
  if (error == 0 && ::rename(beside.c_str(), target_.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(beside.c_str());
    return std::strerror(error);
  }
  fd_ = std::move(fd);
  size_ = written;
  sync_directory_of(target_);
  return "";
}

}  // namespace plateau
