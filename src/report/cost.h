// SPDX-License-Identifier: Apache-2.0
// What watching cost, so that nobody has to ask: the same sentence at the end of `run`, which
// measured it, and in a report made from the recording, which keeps it as two gauges of the root.
#pragma once

#include <optional>
#include <string>

#include "recording/run.h"

namespace plateau {

struct WatchCost {
  double cpu_share = 0;   // CPU of the watcher and its helpers, of one core: 0.0042.
  double walk_share = 0;  // Of the worst process's time, spent under page-table walks.
};

// "watching took 0.42 % of one core, page walks 0.11 % of the job's time"
std::string cost_sentence(const WatchCost& cost);

// As the recording has it (kCostCpu, kCostWalks); empty for logs and recordings without it. The
// gauges are written anew when they have moved by a twentieth, and are read at that moment: the
// figure is exact, and as old as a twentieth of the run at most.
std::optional<WatchCost> recorded_cost(const Run& run);

}  // namespace plateau
