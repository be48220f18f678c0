// SPDX-License-Identifier: Apache-2.0
// --until-step and --until-time: what would the answer have been then?
#pragma once

#include <optional>

#include "base/result.h"
#include "command/time_limit.h"
#include "recording/run.h"

namespace plateau {

struct Until {
  std::optional<double> step;
  std::optional<TimeLimit> time;
};

// The run up to and including the limits. The result may be empty of instants. Fails if the run
// lacks the clock that a limit speaks of.
Result<Run> cut_run(const Run& run, const Until& until);

}  // namespace plateau
