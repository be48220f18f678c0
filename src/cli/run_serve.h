// SPDX-License-Identifier: Apache-2.0
// The server of `plateau run --serve`: a process of its own that follows the job's recording.
//
// It is started before the job and ends with it, after the open pages have fetched the last state.
// Whatever happens to it, the job and its recording go on; if plateau is killed, it ends.
#pragma once

#include <optional>

#include "base/result.h"
#include "cli/helper_process.h"
#include "cli/run_request.h"
#include "command/output.h"

namespace plateau {

class LiveServer {
 public:
  explicit LiveServer(HelperProcess helper) : helper_(std::move(helper)) {}
  [[nodiscard]] pid_t pid() const { return helper_.pid(); }
  // The job has ended: lets pages take the last state, for a few seconds at most.
  void end();

 private:
  HelperProcess helper_;
};

// Starts it, if `request` asks for it, and prints its address on standard error.
Result<std::optional<LiveServer>> serve_job(const RunRequest& request, Output& out);

}  // namespace plateau
