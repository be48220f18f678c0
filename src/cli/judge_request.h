// SPDX-License-Identifier: Apache-2.0
// What `plateau judge` was asked, as one struct.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/until.h"
#include "command/verb.h"
#include "recording/run.h"
#include "report/text.h"
#include "verdict/expectation.h"
#include "verdict/verdict.h"

namespace plateau {

// The options of judge, in the order in which help shows them.
Options judge_options();

struct JudgeRequest {
  std::vector<std::string> files;
  Context given;  // Facts from the command line; they win over the log's.
  Until until;
  Policy policy;
  Expectation expected;
  bool how_read = false;
  bool remember = false;
  bool follow = false;
  bool replay = false;
  bool every = false;  // Of a replay, every sample.
  bool explain = false;
  bool json = false;
  bool quiet = false;
  View view;
};

Result<JudgeRequest> judge_request(const Invocation& invocation);

}  // namespace plateau
