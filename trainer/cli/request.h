// SPDX-License-Identifier: Apache-2.0
// What the options of train and plan ask for, as the rooms understand it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "command/verb.h"
#include "trainer/data/dataset.h"
#include "trainer/data/loader.h"
#include "trainer/data/model_files.h"
#include "trainer/loop/training.h"
#include "trainer/model/qwen.h"

namespace plateau::train {

// What decides how much memory a run takes.
struct Sizing {
  std::filesystem::path model_directory;
  std::filesystem::path dataset;
  std::filesystem::path eval_dataset;  // Empty: none.
  ModelOptions model;
  LoaderOptions loader;
  PixelLimits pixels;           // As the user gave them.
  bool checks_template = true;  // The model's chat template must be the one that is built in.
  DatasetOptions dataset_options;
  OptimizerKind optimizer = OptimizerKind::adamw_8bit;
  int64_t accumulate = 8;
  bool packs = false;        // Examples share rows of up to max_seq_length tokens.
  int64_t eval_answers = 0;  // Questions answered at each evaluation.
  int64_t max_new_tokens = 128;
};

enum class Stage : uint8_t { data, collate, forward, backward, all };

// How closely the datasets are looked at before the first step.
enum class DataCheckDepth : uint8_t { none, headers, full };

struct TrainRequest {
  Sizing sizing;
  TrainingOptions training;
  bool is_merged = true;  // The result is the whole model, not the adapter alone.
  bool resumes = false;
  Stage stage = Stage::all;
  DataCheckDepth data_check = DataCheckDepth::full;
  int64_t threads = 0;  // 0: all cores.
  bool quiet = false;
  std::filesystem::path tensorboard;  // Directory of event files; empty: none.
};

// Errors are usage errors: options that contradict each other, or are missing.
Result<Sizing> sizing_of(const Arguments& arguments);
Result<TrainRequest> train_request_of(const Arguments& arguments);

}  // namespace plateau::train
