// SPDX-License-Identifier: Apache-2.0
// log.jsonl: what happened, one JSON object a line, readable at any moment.
//
// A line is one write to a file opened for appending, so that a kill leaves whole lines; a machine
// that loses power may leave part of the last one, which readers skip and the next run cuts off.
// A resumed run first removes lines of steps after its checkpoint: it will write them again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "trainer/loop/training.h"

namespace plateau::train {

class RunLog {
 public:
  // Keeps lines of steps up to `resumed_at`; below 0: begins anew.
  static Result<RunLog> open(const std::filesystem::path& output_directory, int64_t resumed_at);

  Result<std::monostate> add(const StepReport& report);
  Result<std::monostate> add(const EvalReport& report);
  Result<std::monostate> add_checkpoint(int64_t step, const std::filesystem::path& directory);

 private:
  RunLog(std::filesystem::path path, Fd file);
  Result<std::monostate> append(std::string line);
  std::filesystem::path path_;
  Fd file_;
};

// Bytes of `log` that hold whole lines of steps up to `step`.
size_t kept_log_bytes(std::string_view log, int64_t step);

}  // namespace plateau::train
