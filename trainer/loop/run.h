// SPDX-License-Identifier: Apache-2.0
// A run in the making: what train() keeps from its first step to its last checkpoint.
//
// run_start.cc begins or resumes it, run_step.cc does one step, training.cc goes round. Not an
// interface: only those files and none else include this one.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "base/result.h"
#include "trainer/loop/checkpoint.h"
#include "trainer/loop/run_log.h"
#include "trainer/loop/run_plan.h"
#include "trainer/loop/training.h"

namespace plateau::train {

using Done = Result<std::monostate>;
using RunClock = std::chrono::steady_clock;

inline double seconds_since(RunClock::time_point begin) {
  return std::chrono::duration<double>(RunClock::now() - begin).count();
}
int64_t resident_bytes();  // Of this process; 0 if /proc does not say.

// Sums over the batches of a step or an evaluation.
struct Totals {
  double loss = 0;   // Over labelled tokens.
  double means = 0;  // Of the batches' own mean losses.
  int64_t labelled = 0;
  int64_t batches = 0;  // That had rows.
  int64_t tokens = 0;
  int64_t data_failures = 0;  // Processes whose data could not be read.
};

class Run {
 public:
  // All arguments outlive the run.
  Run(Learner& learner, BatchSource& training, BatchSource* evaluation,
      const TrainingOptions& options, TrainingObserver& observer, const std::function<bool()>& stop)
      : learner_(learner),
        training_(training),
        evaluation_(evaluation),
        options_(options),
        observer_(observer),
        stop_(stop),
        trainable_(learner.trainable()),
        optimizer_(trainable_, options.optimizer) {}

  Result<TrainingResult> go();

 private:
  Done prepare();
  Done resume();
  Done check_same_run(const TrainerState& before);
  void find_best();
  Done agree_on_start();
  Result<bool> step();  // False: every example of it was skipped.
  Done take_batches(int64_t count, Totals& totals);
  Done take_batch(const Batch& batch, Totals& totals);
  Done share(Totals& totals, const Done& own);
  Done after_step(const StepReport& report);
  Done evaluate();
  Done evaluate_batches(Totals& totals);
  Result<AnswerScore> ask_all();
  Done save();
  Error save_before(Error error);
  Result<std::optional<StopReason>> reason_to_stop();
  TrainingResult result(StopReason reason) const;
  [[nodiscard]] RunMemory memory() const;

  [[nodiscard]] int rank() const { return options_.peers != nullptr ? options_.peers->rank() : 0; }
  [[nodiscard]] int world() const {
    return options_.peers != nullptr ? options_.peers->world() : 1;
  }
  [[nodiscard]] int64_t eval_steps() const {
    if (evaluation_ == nullptr || options_.eval_strategy != EvalStrategy::steps) return 0;
    return options_.eval_steps > 0 ? options_.eval_steps : options_.save_steps;
  }
  [[nodiscard]] bool is_due(int64_t every) const {
    return every > 0 && state_.position.step % every == 0;
  }

  // After the step that was just made.
  [[nodiscard]] bool is_eval_due() const {
    if (evaluation_ == nullptr || options_.eval_strategy != EvalStrategy::epoch) {
      return is_due(eval_steps());
    }
    return state_.position.batch == 0 || state_.position.step == plan_.total_steps;
  }

  Learner& learner_;
  BatchSource& training_;
  BatchSource* evaluation_;
  const TrainingOptions& options_;
  TrainingObserver& observer_;
  const std::function<bool()>& stop_;
  std::vector<NamedTensor> trainable_;
  Optimizer optimizer_;
  RunPlan plan_;
  TrainerState state_;
  std::optional<RunLog> log_;  // Of rank 0.
  std::filesystem::path last_checkpoint_;
  int64_t saved_step_ = -1;
  StepReport last_;
  int64_t largest_batch_bytes_ = 0;
  bool data_failed_ = false;  // Of any process.
};

}  // namespace plateau::train
