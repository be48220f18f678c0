// SPDX-License-Identifier: Apache-2.0
// How a model is held and what of it is trained: what both the plan and the model go by.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainer/store/model_config.h"

namespace plateau::train {

enum class BaseStorage : uint8_t { fp32, bf16, nf4 };

// What products and activations are in. Norms, rotations, scores of attention, the loss, adapters,
// gradients of what is trained and the optimizer are in fp32 with either.
enum class ComputeType : uint8_t { fp32, bf16 };

struct LoraOptions {
  int64_t rank = 16;
  double alpha = 16;
  double dropout = 0;
  bool rslora = false;  // alpha / sqrt(rank) instead of alpha / rank.
  bool dora = false;    // Directions by A and B, lengths of the rows trained apart.
  bool vision = true;
  bool language = true;
  bool attention = true;
  bool mlp = true;
  // Of those, only modules with one of these names, whole or from a dot on: "q_proj",
  // "self_attn.q_proj". In hub names. Empty: all.
  std::vector<std::string> targets;
  uint64_t seed = 42;

  [[nodiscard]] double scaling() const;
};

enum class Trained : uint8_t {
  adapters,    // LoRA on the chosen linear layers; everything else frozen.
  everything,  // All weights, in fp32, of the towers that `lora` names.
  nothing,
};

struct ModelOptions {
  BaseStorage storage = BaseStorage::fp32;
  ComputeType compute = ComputeType::fp32;
  std::string device = "cpu";  // As device/device_name.h knows it.
  bool double_quant = true;
  Trained trained = Trained::adapters;
  LoraOptions lora;
  bool gradient_checkpointing = true;
  int64_t attention_chunk = 256;  // Queries at a time.
  int64_t loss_chunk = 256;       // Labelled positions at a time.
};

// How many tokens or patches are computed for `count` of them. In bf16 LibTorch's library for CPUs
// makes code for every shape of a product and keeps it, so lengths are rounded up: to 64, and from
// 1,024 on to an eighth of the power of two below. In fp32 nothing is.
int64_t computed_length(const ModelOptions& options, int64_t count);

// Whether a weight of that name, in hub names, is trained itself: with `everything`, in a tower
// that is chosen. The merger is part of the vision tower, embedding and head of the language.
bool is_trained_whole(const ModelOptions& options, std::string_view weight);

// A linear layer that may get an adapter.
struct LinearShape {
  std::string module;  // As PEFT names it without "base_model.model.", in hub names.
  int64_t inputs = 0;
  int64_t outputs = 0;
  bool is_vision = false;
  bool is_mlp = false;  // Else attention.
};
// All of them: attention and MLP of every layer of decoder and vision tower. Merger, head,
// embedding and the patches' projection are not among them.
std::vector<LinearShape> linear_layers(const ModelConfig& config);
// Those that `options` choose.
std::vector<LinearShape> adapter_layers(const ModelConfig& config, const LoraOptions& options);
// An error if one of the targets is no layer among them.
Result<std::monostate> check_targets(const ModelConfig& config, const LoraOptions& options);

}  // namespace plateau::train
