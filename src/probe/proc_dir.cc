// SPDX-License-Identifier: Apache-2.0
#include "probe/proc_dir.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/text.h"

namespace plateau {
namespace {

constexpr std::array<const char*, 3> kNames = {"stat", "status", "statm"};

}  // namespace

bool ProcRead::forbidden() const {
  return error == EACCES || error == EPERM;
}

ProcRead read_kept(int fd, ProcBuffer& buffer) {
  ssize_t got = 0;
  do {
    got = pread(fd, buffer.bytes.data(), buffer.bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return {.bytes = {}, .error = errno};
  return {.bytes = {buffer.bytes.data(), static_cast<size_t>(got)}, .error = 0};
}

ProcRead read_at(int dir, const char* path, ProcBuffer& buffer) {
  const Fd fd(openat(dir, path, O_RDONLY | O_CLOEXEC));
  if (!fd) return {.bytes = {}, .error = errno};
  return read_kept(fd.get(), buffer);
}

PidDir::PidDir(int proc, pid_t pid, bool keep) : path_(std::to_string(pid)), proc_(proc) {
  if (!keep) return;
  dir_ = Fd(openat(proc, path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

ProcRead PidDir::read(File file, ProcBuffer& buffer) {
  if (!dir_) return read_once(kNames[file], buffer);
  Fd& kept = files_[file];
  if (!kept) {
    kept = Fd(openat(dir_.get(), kNames[file], O_RDONLY | O_CLOEXEC));
    if (!kept) return {.bytes = {}, .error = errno};
  }
  return read_kept(kept.get(), buffer);
}

ProcRead PidDir::read_once(const char* name, ProcBuffer& buffer) const {
  if (dir_) return read_at(dir_.get(), name, buffer);
  return read_at(proc_, (path_ + "/" + name).c_str(), buffer);
}

std::string PidDir::read_all(const char* name, int& error) const {
  if (dir_) return read_file_at(dir_.get(), name, error);
  return read_file_at(proc_, path_ + "/" + name, error);
}

Fd PidDir::open(const char* name, int flags) const {
  if (dir_) return Fd(openat(dir_.get(), name, flags | O_CLOEXEC));
  return Fd(openat(proc_, (path_ + "/" + name).c_str(), flags | O_CLOEXEC));
}

pid_t own_pid_in(int proc) {
  std::array<char, 16> link{};
  const ssize_t length = readlinkat(proc, "self", link.data(), link.size());
  if (length <= 0) return 0;
  const auto pid = parse_int({link.data(), static_cast<size_t>(length)});
  return pid && *pid > 0 && *pid <= 0x7fffffff ? static_cast<pid_t>(*pid) : 0;
}

size_t kept_processes_allowed() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 64;
  const rlim_t files = limit.rlim_cur == RLIM_INFINITY ? 65536 : limit.rlim_cur;
  return static_cast<size_t>(files) / 2 / kKeptPerProcess;
}

}  // namespace plateau
