// SPDX-License-Identifier: Apache-2.0
// Makes sure that a recording can be written, before the job starts and without touching what is
// there: a mistyped command must cost neither an old recording nor leave an empty new one.
#pragma once

#include <string>

#include "base/result.h"

namespace plateau {

class Claim {
 public:
  // Fails if `path` cannot be written. An empty path, or one that is no regular file, is not
  // tried.
  static Result<Claim> on(const std::string& path);

  // The command could not be started: removes the file if the claim made it.
  void withdraw() const;

 private:
  Claim(std::string path, bool made) : path_(std::move(path)), made_(made) {}

  std::string path_;
  bool made_;
};

}  // namespace plateau
