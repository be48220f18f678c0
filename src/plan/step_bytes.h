// SPDX-License-Identifier: Apache-2.0
// What one rank holds for the model and in a step, in bytes: the terms that the lines of a plan are
// made of.
#pragma once

#include <string>
#include <vector>

#include "plan/activations.h"
#include "plan/memory_plan.h"

namespace plateau {

struct StepBytes {
  double parameters = 0;
  double trainable = 0;
  double weights = 0;
  std::string weights_formula;
  double adapters = 0;
  double autocast = 0;  // Narrow copies of the weights.
  double gradients = 0;
  double gradient_width = 0;  // Bytes of one.
  double optimizer = 0;
  std::string optimizer_formula;
  double optimizer_on_host = 0;  // Paged states.
  double optimizer_working = 0;
  LayerBytes layer;               // Of the decoder, a token.
  double activations = 0;         // When the backward pass begins.
  double vision_activations = 0;  // Of them, in the tower.
  double offloaded = 0;           // Inputs of layers, in host RAM.
  double one_layer = 0;           // What the largest layer keeps, with checkpointing.
  double working = 0;
  double logits = 0;
  double adapter_outputs = 0;  // Of all layers that are kept: what adapted products leave behind.
  double buckets = 0;
  std::string buckets_formula;
  std::vector<std::string> notes;
};

StepBytes count_step(const PlannedModel& model, const TrainingSetup& setup);

}  // namespace plateau
