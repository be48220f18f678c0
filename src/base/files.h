// SPDX-License-Identifier: Apache-2.0
// Whole files, read to their end.
//
// Made for /proc and the like, where a file has no size to ask for because the kernel makes the
// text as it is read. What a stranger can make as long as they like is read with a limit.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plateau {

// The bytes of `path`, which may be relative to the open directory `dir` (AT_FDCWD: ours). `error`
// becomes 0 or the errno of what failed; what had been read by then is returned.
// Of a file longer than `most` that many bytes.
std::string read_file_at(int dir, const std::string& path, int& error, size_t most = SIZE_MAX);

// "" if it cannot be read.
std::string text_of_file(const std::string& path, size_t most = SIZE_MAX);

// Writes all of it, however often it takes; 0 or the errno of what failed. May be called by a
// signal handler.
int write_all(int fd, std::string_view bytes);

// Where a symbolic link leads; "" if it cannot be read.
std::string link_target(const std::string& path);

// The entries of a directory that are pids, in order: processes in /proc, threads in a task/.
std::vector<pid_t> pids_in(const std::string& directory);

}  // namespace plateau
