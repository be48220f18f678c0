// SPDX-License-Identifier: Apache-2.0
// What `plateau run` was asked, as one struct.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/push_options.h"
#include "command/verb.h"
#include "report/text.h"
#include "serve/server.h"
#include "session/supervisor.h"
#include "tell/teller.h"
#include "verdict/expectation.h"

namespace plateau {

Options run_options();

struct RunRequest {
  SupervisorOptions job;
  std::optional<ServeOptions> serve;  // Show it live; its paths are filled in when it starts.
  bool serve_port_chosen = false;
  TellOptions tell;
  PushRequest push;
  size_t restarts = 0;
  bool default_name = false;  // The recording is called after the command and the time.
  Policy policy;
  Expectation expected;
  bool json = false;
  bool quiet = false;
  bool explain = false;
  View view;  // Of standard error.
};

Result<RunRequest> run_request(const Arguments& arguments);

// "USR1", "SIGUSR1", "10" -> 10; 0 if there is no such signal.
int signal_from_name(std::string_view name);

// A name for the recording of `command` started at `unix_s`, in the current directory:
// "train-20261116-014502.plateau".
std::string default_recording_name(const std::vector<std::string>& command, int64_t unix_s,
                                   std::optional<int64_t> rank = {});

// "run.plateau" for the first attempt, "run.2.plateau" for the second.
std::string attempt_name(const std::string& path, size_t attempt);

}  // namespace plateau
