// SPDX-License-Identifier: Apache-2.0
// The memory of a training run, predicted line by line before it starts.
//
// Question: what will the process hold at its peak, and why? Method: every line is counted from
// shapes, as the trainer stores things (docs/plan.md derives each formula), for the largest batch
// that the data can give. Nothing is fitted except the runtime line, which is what a process with
// LibTorch and a BLAS holds before any work, measured. Worked number: docs/plan.md has the tables
// of predicted and measured peaks. Blind spot: what the C library keeps of freed blocks is bounded,
// not known; GPU memory is not modelled.
//
// Pure arithmetic, no I/O.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/store/model_config.h"
#include "trainer/store/model_options.h"

namespace plateau::train {

// The largest example, or a typical one.
struct ExampleShape {
  int64_t tokens = 0;         // With its image tokens.
  int64_t labelled = 0;       // That are learned.
  int64_t patches = 0;        // Of all its pictures together, before merging.
  int64_t picture_bytes = 0;  // Of its largest picture, decoded and resized at once.
};

struct PlanRequest {
  ModelConfig config;
  ModelOptions model;
  bool is_8bit_optimizer = true;
  int64_t batch_size = 1;
  ExampleShape largest;
  ExampleShape evaluation;  // Of the evaluation set; all 0: there is none.
  // Rows that several examples share (--packing), the most of each figure; all 0: one example a
  // row.
  ExampleShape packed;
  ExampleShape packed_evaluation;
  int64_t packed_rows = 0;  // Of an epoch; 0: not known, or nothing is packed.
  int64_t new_tokens = 0;   // Of an answer that evaluations generate; 0: they generate none.
  int64_t workers = 0;
  int64_t queue = 2;
  int64_t threads = 1;
  int64_t examples = 0;    // Of the dataset: 16 bytes each.
  int64_t vocabulary = 0;  // Entries of the tokenizer; 0: as many as the model has.
  int64_t kept_bytes = 0;  // By --keep-decoded, at the end of the first epoch.
  // Of gradients that several processes add at once; 0: this process trains alone.
  int64_t peer_bucket_bytes = 0;
};

struct PlanLine {
  std::string name;  // "base", "adapters", "activations" ...
  int64_t bytes = 0;
  std::string formula;        // In words and numbers: "36 layers x 2,048 tokens x ...".
  bool is_transient = false;  // Only within a step.
};

struct Plan {
  std::vector<PlanLine> lines;
  int64_t resident_bytes = 0;  // Between steps: lines that are not transient.
  int64_t peak_bytes = 0;      // All lines.
  int64_t activations_without_checkpointing = 0;
  int64_t activations_with_checkpointing = 0;
  int64_t minimum_ram = 0;      // The peak and what the C library may keep of it.
  int64_t recommended_ram = 0;  // With room for the page cache of dataset and weights.
  int64_t trainable = 0;        // Parameters.
  int64_t parameters = 0;
};

Plan make_plan(const PlanRequest& request);

// What to change so that the peak is at most `limit_bytes`: changes that cost least first, each
// with the peak after it and all before it. Ends when it fits or nothing is left to change.
struct PlanChange {
  std::string option;  // "--batch-size 1 --gradient-accumulation-steps 16"
  std::string cost;    // What it costs besides.
  int64_t peak_bytes = 0;
};
std::vector<PlanChange> changes_to_fit(PlanRequest request, int64_t accumulate,
                                       int64_t limit_bytes);

}  // namespace plateau::train
