// SPDX-License-Identifier: Apache-2.0
// Steps and evaluations as TensorBoard curves, beside whoever else hears of them.
#pragma once

#include <string>

#include "base/result.h"
#include "curves/tensorboard_writer.h"
#include "trainer/loop/training.h"

namespace plateau::train {

// train/loss, train/learning_rate, train/grad_norm, train/epoch, train/tokens,
// train/tokens_per_second, memory/resident_mb and, where tensors are counted, memory/tensors_mb and
// memory/tensors_peak_mb; eval/loss and what else an evaluation measures. A run that goes on from a
// checkpoint makes void what earlier files of the folder say of later steps.
//
// Everything is passed on to `next`, which outlives this. A disk that is full ends the curves, with
// one note, not the training.
class TensorboardLog final : public TrainingObserver {
 public:
  TensorboardLog(TensorboardWriter writer, TrainingObserver& next);

  void began(int64_t total_steps, int64_t first_step) override;
  void stepped(const StepReport& report) override;
  void evaluation_began(int64_t step) override { next_.evaluation_began(step); }
  void evaluated(const EvalReport& report) override;
  void noted(const std::string& message) override { next_.noted(message); }
  void checkpointed(int64_t step, const std::filesystem::path& directory) override {
    next_.checkpointed(step, directory);
  }

 private:
  void tell_trouble();

  TensorboardWriter writer_;
  TrainingObserver& next_;
};

}  // namespace plateau::train
