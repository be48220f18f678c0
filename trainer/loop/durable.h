// SPDX-License-Identifier: Apache-2.0
// Files and directories that are whole or not there, also after a power cut or a kill.
//
// A directory is filled under a temporary name, .NAME.tmp-PID, beside its place; every file and the
// directory itself are flushed to the disk, then it is renamed, then its parent is flushed. What a
// process that died left behind has its process id in the name, so that the next one can clean up.
// Blind spot: a process on another machine that shares the directory looks dead from here.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plateau::train {

// A new file with these bytes, flushed. An error (a full disk) leaves what was written so far.
Result<std::monostate> write_durably(const std::filesystem::path& path, std::string_view bytes);
// Makes renames and new names in `directory` last.
Result<std::monostate> sync_directory(const std::filesystem::path& directory);
Result<std::string> read_whole(const std::filesystem::path& path);

// A directory in the making. Not published means removed.
class NewDirectory {
 public:
  // Missing parents are made.
  static Result<NewDirectory> create(const std::filesystem::path& place);
  NewDirectory(NewDirectory&& other) noexcept;
  NewDirectory& operator=(NewDirectory&&) = delete;
  ~NewDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }
  // From here on it is at its place. One that is there already is replaced: at no moment is there
  // none.
  Result<std::monostate> publish();

 private:
  NewDirectory(std::filesystem::path place, std::filesystem::path temporary);
  std::filesystem::path place_;
  std::filesystem::path temporary_;
};

// Renamed out of sight first: nobody sees half of it.
Result<std::monostate> remove_directory(const std::filesystem::path& directory);

// Temporary directories in `parent` of processes that are no more, or of an earlier process with
// our own id. Their number.
int remove_leftovers(const std::filesystem::path& parent);

}  // namespace plateau::train
