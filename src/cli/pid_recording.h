// SPDX-License-Identifier: Apache-2.0
// A recording of a process that runs: the one that is being written, or one that is begun.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/helper_process.h"
#include "recording/run.h"

namespace plateau {

// The recording that a running plateau writes of a job that `pid` belongs to, if there is one.
std::optional<std::string> recording_of_pid(pid_t pid);

// A recorder of its own, as a helper process, into a directory that only this user can read.
class PidRecorder {
 public:
  // Fails if there is no such process, or no place to write.
  static Result<PidRecorder> start(pid_t pid, const Context& given);
  PidRecorder(PidRecorder&&) noexcept;
  PidRecorder& operator=(PidRecorder&&) = delete;
  ~PidRecorder();  // Ends the recorder and removes the recording.

  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  PidRecorder(HelperProcess helper, std::string directory)
      : helper_(std::move(helper)), directory_(std::move(directory)) {}

  HelperProcess helper_;
  std::string directory_;
};

}  // namespace plateau
