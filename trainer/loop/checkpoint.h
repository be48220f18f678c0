// SPDX-License-Identifier: Apache-2.0
// checkpoint-N directories: all or nothing, and enough to go on to the bit.
//
// Written under a temporary name, flushed file by file, renamed: a directory called checkpoint-N is
// complete. Contents (docs/formats/checkpoint.md): adapter_model.safetensors and
// adapter_config.json as PEFT reads them, optimizer.safetensors, trainer_state.json as Hugging Face
// tools read it, and plateau_state.json with position, random states and fingerprints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/loop/adapter.h"
#include "trainer/model/learner.h"
#include "trainer/optim/optimizer.h"

namespace plateau::train {

struct Position {
  int64_t step = 0;   // Optimizer steps done.
  int64_t epoch = 0;  // Of the next batch.
  int64_t batch = 0;  // Within that epoch.
};

struct LogEntry {
  int64_t step = 0;
  double epoch = 0;
  std::map<std::string, double> values;  // loss, eval_loss, learning_rate, grad_norm ...
};

struct TrainerState {
  Position position;
  int64_t total_steps = 0;
  int64_t logging_steps = 0;
  int64_t save_steps = 0;
  int64_t eval_steps = 0;
  int64_t batch_size = 0;
  double epochs = 0;
  double epoch = 0;  // Done so far, as a fraction.
  int64_t tokens_seen = 0;
  // Of the steps since the last entry of the log, which is a mean.
  double pending_loss = 0;
  int64_t pending_steps = 0;
  std::vector<LogEntry> log;
  std::optional<double> best_metric;
  int64_t best_step = 0;
  std::string best_checkpoint;
  int64_t evaluations_without_gain = 0;
  std::string config_fingerprint;
  std::string dataset_fingerprint;
  std::vector<std::byte> random_state;  // Of LibTorch's generator.
};

struct Checkpoint {
  TrainerState state;
  std::vector<StateTensor> weights;  // Read back in the legacy layout, which trainable() has.
  std::vector<StateTensor> optimizer;
  std::string adapter_config_json;  // Empty: no adapter; weights are in model.safetensors then.
  AdapterLayout layout = AdapterLayout::hf452;
};

// checkpoint-N of state.position.step. One that is there already is replaced. An error (a full
// disk) leaves everything that was there as it was.
Result<std::filesystem::path> write_checkpoint(const std::filesystem::path& output_directory,
                                               const Checkpoint& checkpoint);
// Tensors look into the mapped files, for reading only; one that goes gives its pages back, so that
// who lets go of them as they are copied never holds two of everything.
Result<Checkpoint> read_checkpoint(const std::filesystem::path& directory);
// The complete ones, oldest first. Half-written ones are not seen.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& output_directory);
// Removes the oldest beyond `limit`, never `keep` (the best one) nor the newest. 0: removes
// nothing.
Result<std::monostate> prune_checkpoints(const std::filesystem::path& output_directory,
                                         int64_t limit, const std::filesystem::path& keep);

}  // namespace plateau::train
