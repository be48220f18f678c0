// SPDX-License-Identifier: Apache-2.0
// `plateau plan` from its words: the options as a table, and what they ask for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "command/verb.h"
#include "plan/memory_plan.h"

namespace plateau {

Options plan_options();

struct PlanRequest {
  PlannedModel model;
  TrainingSetup setup;
  std::vector<std::string> assumptions;  // That no option, file or dataset decided.
};
// Reads the model's configuration, the headers of its weights, and the dataset if there is one.
Result<PlanRequest> plan_request_of(const Arguments& arguments);

// The words of plateau-train for `--for plateau`; an error names what it has no option for.
Result<std::vector<std::string>> trainer_words(const Arguments& arguments);

}  // namespace plateau
