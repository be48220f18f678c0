// SPDX-License-Identifier: Apache-2.0
// "reading big.log  45 %" on standard error while an import takes long.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "command/output.h"

namespace plateau {

// Silent for the first second and unless standard error is a terminal. The line is wiped on
// destruction. Hand update() to ImportOptions::progress.
class Progress {
 public:
  Progress(Output& out, std::string_view file);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(uint64_t done, uint64_t total);

 private:
  Output& out_;
  std::string file_;
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace plateau
