// SPDX-License-Identifier: Apache-2.0
// What a run leaves behind: the adapter or the merged model, and its account for the reader.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "base/result.h"
#include "command/output.h"
#include "report/text.h"
#include "trainer/cli/job.h"
#include "trainer/cli/self_watch.h"
#include "trainer/loop/adapter.h"
#include "trainer/loop/training.h"
#include "trainer/model/qwen.h"

namespace plateau::train {

Result<std::unique_ptr<QwenVl>> load_model(const std::filesystem::path& directory,
                                           const ModelConfig& config, const ModelOptions& options);

// With an adapter of ours or of PEFT: its rank, scaling and modules are its own, `options` say the
// rest.
Result<std::unique_ptr<QwenVl>> load_adapted_model(const std::filesystem::path& directory,
                                                   const ModelConfig& config, ModelOptions options,
                                                   const std::filesystem::path& adapter);

AdapterConfig adapter_config_of(const TrainRequest& request, const ModelConfig& config);

// output_dir/adapter, and output_dir/merged if that was asked for; output_dir/model where the
// weights themselves were trained; of the best checkpoint if there
// were evaluations, else of the last step. The directory to use.
Result<std::filesystem::path> save_result(const TrainRequest& request, const ModelConfig& config,
                                          QwenVl& model, const TrainingResult& trained);

struct Account {
  const TrainRequest& request;
  const Planned& planned;
  const QwenVl& model;
  const TrainingResult& trained;
  const std::vector<BadExample>& skipped;
  const SelfWatch& self;
  int64_t ahead_bytes = 0;    // Of batches made ahead, at their most.
  int64_t runtime_bytes = 0;  // Resident before the model was loaded.
};
// Steps and losses, examples that were left out, the plan beside what was measured, the verdict.
void say_end(const Account& account, const View& view, Output& out);

}  // namespace plateau::train
