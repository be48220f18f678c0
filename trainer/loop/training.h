// SPDX-License-Identifier: Apache-2.0
// The training loop: batches in, steps, evaluations and checkpoints out.
//
// A step is `accumulate` batches. The loss is divided by all labelled tokens of the step (of all
// processes), so that it does not depend on how they were cut into batches; `per_batch_mean` gives
// the other rule for comparison. All randomness comes from the seed and the position, all state is
// in the checkpoint: a resumed run equals one that was never stopped, to the bit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trainer/data/answer_score.h"
#include "trainer/data/loader.h"
#include "trainer/loop/adapter.h"
#include "trainer/loop/distributed.h"
#include "trainer/model/learner.h"
#include "trainer/optim/optimizer.h"

namespace plateau::train {

// When evaluations are made, if there is something to evaluate on.
enum class EvalStrategy : uint8_t {
  none,
  steps,  // Every eval_steps.
  epoch,  // With the last step of each epoch, and of the run.
};

struct TrainingOptions {
  std::filesystem::path output_directory;
  double epochs = 3;
  int64_t max_steps = -1;  // Above 0: instead of epochs.
  int64_t accumulate = 8;
  bool per_batch_mean = false;
  OptimizerOptions optimizer;
  ScheduleKind schedule = ScheduleKind::cosine;
  int64_t warmup_steps = 10;
  std::optional<double> warmup_ratio;  // Of all steps, in [0, 1]; instead of warmup_steps.
  int64_t logging_steps = 10;
  int64_t save_steps = 100;
  int64_t save_total_limit = 3;
  EvalStrategy eval_strategy = EvalStrategy::steps;
  int64_t eval_steps = 0;               // 0: as save_steps.
  int64_t early_stopping_patience = 0;  // Evaluations without improvement; 0: never.
  double early_stopping_threshold = 0;
  uint64_t seed = 42;
  int64_t cleanup_every = 0;       // malloc_trim every N steps: to show what it brings.
  int64_t memory_limit_bytes = 0;  // Resident; above it: checkpoint and stop. 0: none.
  std::optional<std::filesystem::path> resume_from;
  std::string config_fingerprint;  // Of model and options that must not change on resume.
  std::string dataset_fingerprint;
  bool accepts_changed_data = false;  // Resume although the dataset is another than it was.
  int64_t batch_size = 1;             // Rows of a batch: for the state files only.
  std::string adapter_config_json;    // Empty: checkpoints hold model.safetensors, not an adapter.
  AdapterLayout adapter_layout = AdapterLayout::hf452;
  // Has the model answer this process's share of questions at every evaluation. Empty: no answers.
  std::function<Result<AnswerScore>(int rank, int world)> ask;
  // Several processes: each calls train() with its own share of every batch, and can read
  // resume_from. Null: alone.
  Peers* peers = nullptr;
};

// What a step tells those who watch: the progress line, the log, the socket of plateau run.
struct StepReport {
  int64_t step = 0;
  int64_t total_steps = 0;
  double epoch = 0;
  double loss = 0;
  double learning_rate = 0;
  double grad_norm = 0;
  int64_t tokens = 0;
  double seconds = 0;
  int64_t resident_bytes = 0;
  // Of the memory tracker; 0 if it is not installed.
  int64_t tensor_bytes = 0;
  int64_t tensor_storages = 0;
  int64_t tensor_peak_bytes = 0;  // Within this step.
};
struct EvalReport {
  int64_t step = 0;
  double loss = 0;
  std::optional<AnswerScore> answers;  // Of all processes.
  double seconds = 0;
  bool is_best = false;
};

// What the answers say, by name, in [0, 1]: exact_match and, where JSON is expected, json_valid and
// json_fields. Nothing if none were asked for.
std::vector<std::pair<std::string, double>> measures_of(const EvalReport& report);

class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void began(int64_t /*total_steps*/, int64_t /*first_step*/) {}
  virtual void stepped(const StepReport& /*report*/) {}
  virtual void evaluation_began(int64_t /*step*/) {}
  virtual void evaluated(const EvalReport& /*report*/) {}
  // Something to know that is no error.
  virtual void noted(const std::string& /*message*/) {}
  virtual void checkpointed(int64_t /*step*/, const std::filesystem::path& /*directory*/) {}
};

// What a run's owners of memory held, in bytes, as they say themselves. Activations and logits are
// the most of any step, and 0 without the memory tracker.
struct RunMemory {
  int64_t adapters = 0;  // Or whatever is trained.
  int64_t gradients = 0;
  int64_t optimizer = 0;
  int64_t activations = 0;
  int64_t logits = 0;
  int64_t images = 0;  // The largest batch, as loaded.
};

enum class StopReason : uint8_t { finished, early, signal, memory_limit };
struct TrainingResult {
  StopReason reason = StopReason::finished;
  int64_t steps = 0;
  double last_loss = 0;
  std::optional<double> best_eval_loss;
  std::filesystem::path last_checkpoint;
  std::filesystem::path best_checkpoint;
  RunMemory memory;
};

// `stop` is asked after each step: true leads to a checkpoint and StopReason::signal. With peers,
// one process that is to stop stops all; every process calls its observer, only rank 0 writes.
// Errors leave the last checkpoint as it was: a loss that is not finite, a disk that is full. Data
// that is bad leads to one more, of the last whole step. A new run refuses a directory that holds
// checkpoints.
//
// The output directory gets checkpoint-N directories and log.jsonl, one line a step.
Result<TrainingResult> train(Learner& learner, BatchSource& training, BatchSource* evaluation,
                             const TrainingOptions& options, TrainingObserver& observer,
                             const std::function<bool()>& stop);

}  // namespace plateau::train
