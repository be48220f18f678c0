// SPDX-License-Identifier: Apache-2.0
// The host's side of a run, which people forget: the program itself, batches prepared ahead, pinned
// memory, the dataset, and what a checkpoint takes while it is written.
#pragma once

#include <string>
#include <vector>

#include "plan/memory_plan.h"
#include "plan/step_bytes.h"

namespace plateau {

struct HostBytes {
  std::vector<MemoryLine> lines;  // Of all ranks on this host.
  double staging = 0;             // While a checkpoint is written.
  std::string staging_formula;
};

HostBytes host_lines(const PlannedModel& model, const TrainingSetup& setup, const StepBytes& step);

// Bytes of one batch as the model gets it: ids, labels, mask, pixels.
double batch_bytes(const PlannedModel& model, const TrainingSetup& setup);

}  // namespace plateau
