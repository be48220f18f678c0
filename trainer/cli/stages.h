// SPDX-License-Identifier: Apache-2.0
// `--only STAGE`: the pipeline up to one stage and no further, to see which of them grows.
#pragma once

#include "command/verb.h"
#include "report/text.h"
#include "trainer/cli/job.h"

namespace plateau::train {

// data: lines and compressed pictures are read. collate: pictures are decoded, batches made.
// forward: losses are computed, without a graph. backward: gradients too, but no step is taken.
// Steps are counted, said and judged as in training; nothing is written. Returns the exit code.
int run_stage(const Invocation& invocation, const TrainRequest& request, const Job& job,
              const Planned& planned, const View& view);

}  // namespace plateau::train
