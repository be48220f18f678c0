// SPDX-License-Identifier: Apache-2.0
// The file below a recording's writer: appended to record by record, and now and then replaced.
//
// Every append is one write(2), so that a reader, or whoever looks after a kill, finds whole
// records with at most a torn one at the end. What could not be written completely is cut off
// again. replace() puts the new content beside the file, syncs and renames it: at every moment the
// path names a complete file, the old or the new one. Nothing else is synced. Not synchronised.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace plateau {

class AppendFile {
 public:
  // Creates `path`, for its owner alone, and removes a replacement that a killed writer left beside
  // it. A file that is there and holds anything is an error, unless it is to be `replaced`; so is
  // one that another writer has open. What is no regular file (a pipe, /dev/null) is appended to
  // and never replaced.
  static Result<AppendFile> create(const std::string& path, bool replaced = false);

  // "" or what went wrong; the file is then as it was before.
  std::string append(std::string_view bytes);
  // Likewise. `can_replace()` must hold.
  std::string replace(std::string_view bytes);

  [[nodiscard]] bool can_replace() const { return regular_; }
  [[nodiscard]] uint64_t size() const { return size_; }

 private:
  AppendFile() = default;

  Fd fd_;
  std::string target_;  // With links resolved, so that renaming replaces the file and not a link.
  uint64_t size_ = 0;
  bool regular_ = false;
};

// The name of the replacement while it is being written.
std::string replacement_path(const std::string& path);

}  // namespace plateau
