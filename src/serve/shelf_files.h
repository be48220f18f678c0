// SPDX-License-Identifier: Apache-2.0
// The file system's side of the shelf: what there is, and whether it changed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plateau {

// Two equal stamps: the file was not written in between.
struct FileStamp {
  bool exists = false;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::string& path);

struct ListedFile {
  std::string path;
  std::string name;     // As it was given, or within its directory.
  std::string beneath;  // The directory that it was found in; empty for a file that was named.
  FileStamp stamp;
};

// Files as given, and the `most` newest *.plateau of each directory, not of those below and not
// those that are links out of it. Newest
// first. No path twice; a name that is taken already gives way to the whole path.
std::vector<ListedFile> list_runs(const std::vector<std::string>& paths,
                                  const std::vector<std::string>& later, size_t most);

// 16 hexadecimal digits that stand for a path.
std::string id_of_path(const std::string& path);

}  // namespace plateau
