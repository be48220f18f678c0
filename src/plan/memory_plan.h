// SPDX-License-Identifier: Apache-2.0
// The memory of a training run, predicted line by line before it starts.
//
// Question: what will the GPU and the host hold at their peak, and why? Method: each line is
// counted from shapes, as transformers, peft, TRL or Unsloth store things (docs/plan.md derives
// each). On a GPU the step has two moments that may be the peak, when the backward pass begins (all
// activations and the loss) and when it ends (all gradients); the lines are those of the larger
// one. On a CPU small blocks come from a heap that does not shrink, so that its fullest moment and
// the logits add up. Fitted are what a process with the stack holds before any work, which was
// measured, and the holes that allocators keep.
//
// Worked numbers: docs/plan.md has planned beside measured and beside published ones, with errors.
// Blind spot: torch.compile, custom kernels, and what callbacks and evaluation keep.
//
// Pure arithmetic, no I/O. Doubles throughout: no size that passes parse_model_shape() overflows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/model_shape.h"
#include "plan/training_setup.h"
#include "plan/weights.h"

namespace plateau {

struct MemoryLine {
  std::string name;  // "weights", "activations" ...
  double bytes = 0;
  std::string formula;      // In words and numbers: "32 layers x 2,048 tokens x 43,008 bytes".
  bool is_in_step = false;  // Held within a step only.
};

// Of one GPU, or of a host with all its ranks.
struct MemorySide {
  std::vector<MemoryLine> lines;
  double resident = 0;  // Between steps.
  double peak = 0;      // In a step, or while a checkpoint is written if that is more.
  std::string moment;   // Of the peak: "when the backward pass begins".
};

struct MemoryPlan {
  MemorySide host;
  std::optional<MemorySide> gpu;  // Absent on a CPU.
  double parameters = 0;
  double trainable = 0;
  std::vector<std::string> notes;
};

struct PlannedModel {
  ModelShape shape;
  WeightCount weights;
  std::optional<StoredWeights> stored;  // Decides the total where it is there and not packed.
};

MemoryPlan make_memory_plan(const PlannedModel& model, const TrainingSetup& setup);

// What to change so that the GPU (on a CPU: the host) holds at most `limit` bytes: what costs least
// first, each with the peak after it and all before it. Ends when it fits or nothing is left.
struct MemoryChange {
  std::string what;  // In the stack's own words: "gradient_checkpointing=True".
  std::string cost;
  double peak = 0;
};
std::vector<MemoryChange> changes_to_fit(const PlannedModel& model, TrainingSetup setup,
                                         double limit);

// The peak that a limit is about.
double limited_peak(const MemoryPlan& plan);

}  // namespace plateau
