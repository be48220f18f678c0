// SPDX-License-Identifier: Apache-2.0
// Reading /proc cheaply: kept descriptors, one buffer, errors as errno.
//
// Opening a file of /proc costs more than the kernel's work of filling it: measured here, statm
// takes 5.4 us with open and 1.2 us by pread on a kept descriptor. A kept descriptor is also bound
// to its process: once that is gone, reads fail with ESRCH, whoever has the pid by then.
#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace plateau {

// Where files are read into; shared by all readers of a Sampler, so a view into it is good until
// the next read. 16 kB hold every file that is read here from its start; longer ones are cut off,
// except by read_all().
struct ProcBuffer {
  std::array<char, 16384> bytes{};
};

// What a read gave. `error` is an errno, 0 if all is well: ESRCH and ENOENT mean that the process
// is gone, EACCES and EPERM that it may not be read.
struct ProcRead {
  std::string_view bytes;
  int error = 0;

  [[nodiscard]] bool ok() const { return error == 0; }
  [[nodiscard]] bool forbidden() const;
};

// Reads `fd` from its start with one system call: the kernel makes the text anew at offset 0, so
// two short reads could mix two moments.
ProcRead read_kept(int fd, ProcBuffer& buffer);

// Opens `path` below `dir`, reads it, closes it.
ProcRead read_at(int dir, const char* path, ProcBuffer& buffer);

// One process's directory. With `keep` its descriptors stay open; without (very large trees) every
// read opens the file anew, and the caller checks the start time.
class PidDir {
 public:
  enum File : size_t { stat, status, statm };

  PidDir() = default;
  // `proc` must stay open for as long as this object is used.
  PidDir(int proc, pid_t pid, bool keep);

  // Reads cannot meet another process that has the pid by now.
  [[nodiscard]] bool kept() const { return static_cast<bool>(dir_); }
  ProcRead read(File file, ProcBuffer& buffer);
  ProcRead read_once(const char* name, ProcBuffer& buffer) const;
  std::string read_all(const char* name, int& error) const;
  // Opens something below the directory, e.g. "fd" with O_DIRECTORY.
  [[nodiscard]] Fd open(const char* name, int flags) const;

 private:
  std::string path_;  // "4242", relative to proc_; empty if dir_ is kept.
  int proc_ = -1;
  Fd dir_;
  std::array<Fd, 3> files_;
};

// The pid of this process as `proc` counts: that of /proc/self, which differs from getpid() where
// `proc` is another pid namespace's. 0 if this process is not in there, as in a captured tree.
pid_t own_pid_in(int proc);

// How many descriptors PidDir keeps per process.
inline constexpr size_t kKeptPerProcess = 4;

// How many processes may have kept descriptors: half of what this process may have open. The limit
// itself is not raised, because a job that is started later would inherit that.
size_t kept_processes_allowed();

}  // namespace plateau
