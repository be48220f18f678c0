// SPDX-License-Identifier: Apache-2.0
// What `plateau judge` was asked, as one struct.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/until.h"
#include "cli/verb.h"
#include "recording/run.h"
#include "report/text.h"
#include "verdict/verdict.h"

namespace plateau {

// The options of judge, in the order in which help shows them.
std::vector<Option> judge_options();

// Those that compare has as well: what the user knows, and how to draw.
std::vector<Option> context_options();
std::vector<Option> look_options();
Context given_facts(const Arguments& arguments);
View view_asked_for(const Arguments& arguments);

struct JudgeRequest {
  std::vector<std::string> files;
  Context given;  // Facts from the command line; they win over the log's.
  Until until;
  Policy policy;
  std::optional<Word> expected;
  bool replay = false;
  bool every = false;  // Of a replay, every sample.
  bool explain = false;
  bool json = false;
  bool quiet = false;
  View view;
};

Result<JudgeRequest> judge_request(const Invocation& invocation);

// Puts the given facts over the run's own. Steps per epoch that the log states give way to
// examples and batch from the command line: the user knows better.
void apply_facts(const Context& given, Context& context);

}  // namespace plateau
