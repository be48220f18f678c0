// SPDX-License-Identifier: Apache-2.0
// What a layer of transformers keeps for the backward pass, in bytes.
//
// Counted from what autograd saves: each tensor that a gradient needs is listed in activations.cc
// with its reason, and the sums equal those of torch's saved-tensor hooks on models of every family
// (docs/plan.md). Worked number: a Llama layer of hidden 128, inner 384, 4 heads of 32 of which 2
// have keys, all weights trained in 32 bits, keeps 10,776 bytes a token.
//
// Blind spot: what torch.compile fuses away, and sequence parallelism.
#pragma once

#include "plan/model_shape.h"
#include "plan/training_setup.h"

namespace plateau {

struct LayerBytes {
  double kept = 0;     // A token, without checkpointing: everything the gradients need.
  double input = 0;    // A token, with checkpointing: the layer's input.
  double working = 0;  // A token, besides, while the layer's gradients are made.
};

// `row` is the number of tokens that attend to each other: eager attention keeps their scores.
// Nothing is kept of a tower in which nothing is trained.
LayerBytes layer_bytes(const ModelShape& shape, const TowerShape& tower, bool is_vision,
                       const TrainingSetup& setup, double row);

// Whether any weight of the vision tower learns.
bool trains_vision(const ModelShape& shape, const TrainingSetup& setup);

// Bytes of loss and logits at their largest, for each token and each entry of the vocabulary.
double logit_bytes(const ModelShape& shape);
// Rows of logits that exist at once: all, or those of a chunk where the stack computes them so.
double logit_rows(const TrainingSetup& setup);

}  // namespace plateau
