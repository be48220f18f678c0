// SPDX-License-Identifier: Apache-2.0
// Recorded traces with known truth, as corpus/README.md describes them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "recording/run.h"

namespace plateau::bench {

struct Trace {
  std::string name;
  std::string kind;
  std::string cause;            // As labels.json names it.
  bool leak = false;            // The truth.
  double added_mb = 0;          // What a leak added by the end, from its mechanism.
  double onset_step = 0;        // After which a leak begins.
  double rate_mb_per_step = 0;  // What a leak adds from then on.
  double ended_step = -1;       // From which on a bounded one cannot grow; -1 if not in the trace.
  double epoch_steps = 0;       // 0 if the job has no epochs.
  Run run;                      // With the epoch in its context.
};

// Reads DIR/labels.json and every trace it names.
Result<std::vector<Trace>> load_traces(const std::string& directory);

// The instants of `run` up to `tenth` tenths of its clock.
Run first_tenths(const Run& run, int tenth);

}  // namespace plateau::bench
