// SPDX-License-Identifier: Apache-2.0
// AdamW in 32 bits or with 8-bit states, learning-rate schedules and clipping.
//
// States can be taken out and put back to the bit, which resuming rests on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/model/learner.h"

namespace plateau::train {

enum class OptimizerKind : uint8_t { adamw, adamw_8bit };
enum class ScheduleKind : uint8_t { linear, cosine, constant, constant_with_warmup, polynomial };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw_8bit;
  double learning_rate = 2e-5;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;  // Of matrices; vectors (biases, norms) have none.
  double max_grad_norm = 1.0;  // 0: no clipping.
};

// The factor of the learning rate for step `step` (counted from 0) of `total`, as transformers
// computes it: warm-up rises from 0, so that step 0 of a warm-up learns nothing; linear and cosine
// fall to 0 at `total`. `constant` knows no warm-up. `polynomial`, of power 1 as by default there,
// falls to a rate of 1e-7, for which it needs `learning_rate`, and stays at it.
double schedule_factor(ScheduleKind kind, int64_t step, int64_t warmup, int64_t total,
                       double learning_rate);

// A tensor of state, as checkpoints store it.
struct StateTensor {
  std::string name;
  Tensor tensor;
};

// Requires: parameters are contiguous fp32 tensors on one device, with distinct names; states and
// gradients are there too. Each gets a gradient of zeros at once and keeps that memory, so that
// what gradients cost is known before the first step. Results do not depend on the number of
// threads. Not thread-safe.
class Optimizer {
 public:
  Optimizer(std::vector<NamedTensor> parameters, const OptimizerOptions& options);
  ~Optimizer();
  Optimizer(Optimizer&&) noexcept;

  void zero_grad();
  // All gradients times `factor`: a sum over labelled tokens becomes a mean.
  void scale_gradients(double factor);
  // The norm of all gradients; they are scaled down to max_grad_norm if above. A norm that is not
  // finite is returned and changes nothing.
  double clip();
  // A value whose gradient is not finite stays as it is, and its states become 0.
  void step(double learning_rate);
  [[nodiscard]] int64_t steps() const;
  [[nodiscard]] int64_t state_bytes() const;
  // NAME.exp_avg and NAME.exp_avg_sq of every parameter; with 8-bit states also their .absmax. The
  // tensors share the optimizer's memory: they are good until it steps or goes.
  [[nodiscard]] std::vector<StateTensor> state() const;
  // Names, shapes and types must be those of state(); nothing is changed if they are not. Lets go
  // of each tensor once it is copied.
  Result<std::monostate> restore(std::vector<StateTensor> state, int64_t steps);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plateau::train
