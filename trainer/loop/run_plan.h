// SPDX-License-Identifier: Apache-2.0
// Arithmetic of a run: how many steps, which epoch, and what must not change when it is resumed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainer/loop/checkpoint.h"
#include "trainer/loop/training.h"

namespace plateau::train {

struct RunPlan {
  int64_t batches_per_epoch = 0;
  int64_t steps_per_epoch = 0;  // The last step of an epoch takes the batches that are left.
  int64_t total_steps = 0;
  int64_t warmup_steps = 0;
};
// Epochs may be a fraction; a step that is begun counts, of a warm-up too, as transformers counts
// it. Errors: no batches, nothing to do, a warm-up that is no share of a run.
Result<RunPlan> plan_run(const TrainingOptions& options, int64_t batches_per_epoch);

// The position as a number of epochs.
double epochs_done(const Position& position, const RunPlan& plan);

// Every setting that changes what a step does, readable: "accumulate=8; seed=42; ...". The number
// of steps is not among them: a run may be resumed to go further.
std::string settings_fingerprint(const TrainingOptions& options, int64_t batches_per_epoch,
                                 int world);
// Whether nothing differs but the field of that name; empty: no field.
bool same_but_for(std::string_view before, std::string_view now, std::string_view field);
// What differs first, as "seed was 42, is 43"; empty if nothing does.
std::string fingerprint_difference(std::string_view before, std::string_view now);

// A seed for one step of one process, well spread.
uint64_t step_seed(uint64_t seed, int64_t step, int rank);

}  // namespace plateau::train
