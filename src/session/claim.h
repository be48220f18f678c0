// SPDX-License-Identifier: Apache-2.0
// Makes sure that a recording can be written, before the job starts and without touching what is
// there: a mistyped command must cost neither an old recording nor leave an empty new one.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace plateau {

class Claim {
 public:
  // Fails if `path` cannot be written, or holds something that is not to be `replaced`. An empty
  // path, or one that is no regular file, is not tried.
  static Result<Claim> on(const std::string& path, bool replaced = false);
  // On the first of "a.plateau", "a-2.plateau", … that is free, for a name that nobody chose.
  static Result<Claim> on_free(const std::string& path);

  // The command could not be started: removes the file if the claim made it.
  void withdraw() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Claim(std::string path, bool made) : path_(std::move(path)), made_(made) {}

  std::string path_;
  bool made_;
};

// Why `path` must not be written to: it is a file that holds something. Nothing if it may be.
std::optional<Error> holds_something(const std::string& path);

}  // namespace plateau
