// SPDX-License-Identifier: Apache-2.0
// Everything that decides how much memory a training run takes, besides the model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plateau {

enum class TrainingStack : uint8_t { transformers, trl, unsloth };
enum class TrainingDevice : uint8_t { cpu, cuda };
enum class TrainingMethod : uint8_t { full, lora, qlora };
enum class OptimizerKind : uint8_t {
  adamw,
  adamw_8bit,
  paged_adamw,
  paged_adamw_8bit,
  adafactor,
  sgd
};
enum class AttentionKind : uint8_t { eager, sdpa, flash };
enum class Precision : uint8_t { fp32, bf16, fp16 };
enum class ShardingKind : uint8_t { none, zero1, zero2, zero3, fsdp };
enum class Checkpointing : uint8_t { off, on, offload };  // offload: inputs of layers in host RAM.
enum class DatasetPlace : uint8_t {
  mapped,   // Arrow files, mapped: pages that the kernel may take back.
  memory,   // A list of examples in Python.
  decoded,  // The same, and each picture stays decoded once it was touched.
};

struct TrainingSetup {
  TrainingStack stack = TrainingStack::transformers;
  TrainingDevice device = TrainingDevice::cuda;
  TrainingMethod method = TrainingMethod::full;
  int64_t rank = 16;
  std::vector<std::string> targets;
  bool freezes_vision = false;
  bool double_quant = true;
  OptimizerKind optimizer = OptimizerKind::adamw;
  Checkpointing checkpointing = Checkpointing::off;
  AttentionKind attention = AttentionKind::sdpa;
  Precision dtype = Precision::bf16;
  bool has_autocast = false;  // Trainer's bf16=True or fp16=True.

  // Of the longest example.
  int64_t tokens = 2048;  // Its pictures' included.
  int64_t patches = 0;    // Of all its pictures.
  int64_t batch = 1;
  int64_t accumulation = 1;
  int64_t ranks = 1;
  int64_t ranks_here = 1;  // On this host.
  ShardingKind sharding = ShardingKind::none;

  // The host's side.
  int64_t workers = 0;
  int64_t prefetch = 2;
  bool pins_memory = true;
  int64_t pictures = 0;        // Of an example.
  int64_t picture_pixels = 0;  // Of the largest, as stored.
  int64_t resized_pixels = 0;  // The same, as the model gets it.
  DatasetPlace dataset = DatasetPlace::mapped;
  int64_t examples = 0;
  double dataset_bytes = 0;  // Of its text.
  double decoded_bytes =
      0;  // Of all its pictures in Pillow's form; 0: examples x pictures x pixels.
  bool saves_checkpoints = true;
};

inline double bytes_of(Precision precision) {
  return precision == Precision::fp32 ? 4 : 2;
}

}  // namespace plateau
