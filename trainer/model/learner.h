// SPDX-License-Identifier: Apache-2.0
// What the training loop asks of a model: losses, and the tensors that are trained.
//
// The loop, the optimizer and the checkpoints know nothing else of it, so that they are tested with
// a model of a few lines. No torch header here: Tensor is at::Tensor behind a name that can be
// declared ahead.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/data/loader.h"

namespace at {
class Tensor;
}

namespace plateau::train {

// Shared ownership of an at::Tensor; copies are the same tensor.
using Tensor = std::shared_ptr<at::Tensor>;

struct NamedTensor {
  std::string name;  // PEFT's key, "base_model.model....lora_A.weight", or the hub's name.
  Tensor tensor;     // fp32; gradients accumulate in its grad().
};

// A sum over labelled positions, not a mean: the caller knows what it is divided by.
struct LossSum {
  Tensor sum;  // One value; with a graph in forward(), without in evaluate().
  int64_t labelled = 0;
};

class Learner {
 public:
  virtual ~Learner() = default;
  Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  // Errors: a batch that does not fit the model (image tokens and patches disagree, ids too large).
  virtual Result<LossSum> forward(const Batch& batch) = 0;
  virtual Result<LossSum> evaluate(const Batch& batch) = 0;  // Keeps neither graph nor logits.
  virtual std::vector<NamedTensor> trainable() = 0;          // In a fixed order.
};

}  // namespace plateau::train
