// SPDX-License-Identifier: Apache-2.0
// One shard: its samples and all that belongs to them, asked for and judged, so that nothing but
// verdicts is left of it.
#pragma once

#include <string>
#include <vector>

#include "fleet/database.h"
#include "fleet/judge_series.h"
#include "fleet/plan.h"
#include "fleet/preset.h"

namespace plateau::fleet {

// What is asked for, the same for all shards of a round.
struct Question {
  Preset preset;
  std::string metric;                 // Instead of the preset's, if not empty, with `matchers`.
  std::string matchers;               // Besides the preset's.
  std::vector<std::string> group_by;  // Labels whose values are the workload; empty: by the preset.
  double end_s = 0;
  double window_s = 6 * 3600;
  bool with_plus = false;      // The metric that is added has values that are not 0.
  bool with_closeups = false;  // A report is wanted of what may be listed.

  [[nodiscard]] double begin_s() const { return end_s - window_s; }
  // What selects the series, with the matchers of a shard.
  [[nodiscard]] std::string selector(std::string_view shard) const;
};

struct ShardOutcome {
  Failure failure = Failure::none;  // Of the samples; nothing was judged then.
  std::string message;
  std::vector<SeriesVerdict> verdicts;
  std::vector<std::string> warnings;
  std::vector<std::string> troubles;  // What else could not be asked for.
  size_t brief = 0;
  size_t unreadable = 0;  // Without what their figures need, such as the memory of a machine.
  size_t duplicates = 0;
  size_t samples = 0;
};

ShardOutcome pull_shard(Database& database, const Question& question, const Shard& shard);

}  // namespace plateau::fleet
