// SPDX-License-Identifier: Apache-2.0
#include "trainer/store/model_options.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "trainer/store/weight_names.h"

namespace plateau::train {
namespace {

bool is_named(std::string_view module, const std::string& target) {
  return module == target || module.ends_with("." + target);
}

bool is_target(std::string_view module, const std::vector<std::string>& targets) {
  return targets.empty() || std::ranges::any_of(targets, [&](const std::string& target) {
           return is_named(module, target);
         });
}

}  // namespace

double LoraOptions::scaling() const {
  const auto by = static_cast<double>(rank);
  return alpha / (rslora ? std::sqrt(by) : by);
}

int64_t computed_length(const ModelOptions& options, int64_t count) {
  if (options.compute == ComputeType::fp32 || options.device != "cpu" || count < 1) return count;
  constexpr uint64_t kLeastStep = 64;
  const uint64_t step = std::max(kLeastStep, std::bit_floor(static_cast<uint64_t>(count)) / 8);
  return static_cast<int64_t>((static_cast<uint64_t>(count) + step - 1) / step * step);
}

bool is_trained_whole(const ModelOptions& options, std::string_view weight) {
  if (options.trained != Trained::everything) return false;
  return weight.starts_with("visual.") ? options.lora.vision : options.lora.language;
}

std::vector<LinearShape> linear_layers(const ModelConfig& config) {
  constexpr std::string_view kWeight = ".weight";
  std::vector<LinearShape> out;
  for (const WeightShape& weight : weight_shapes(config)) {
    const std::string& name = weight.name;
    const bool in_block = name.starts_with("visual.blocks.") || name.starts_with("model.layers.");
    if (!in_block || weight.shape.size() != 2) continue;
    out.push_back({.module = name.substr(0, name.size() - kWeight.size()),
                   .inputs = weight.shape[1],
                   .outputs = weight.shape[0],
                   .is_vision = name.starts_with("visual."),
                   .is_mlp = name.find(".mlp.") != std::string::npos});
  }
  return out;
}

std::vector<LinearShape> adapter_layers(const ModelConfig& config, const LoraOptions& options) {
  std::vector<LinearShape> out = linear_layers(config);
  std::erase_if(out, [&](const LinearShape& layer) {
    const bool by_tower = layer.is_vision ? options.vision : options.language;
    const bool by_kind = layer.is_mlp ? options.mlp : options.attention;
    return !(by_tower && by_kind && is_target(layer.module, options.targets));
  });
  return out;
}

Result<std::monostate> check_targets(const ModelConfig& config, const LoraOptions& options) {
  const std::vector<LinearShape> layers = adapter_layers(config, options);
  for (const std::string& target : options.targets) {
    if (std::ranges::any_of(
            layers, [&](const LinearShape& layer) { return is_named(layer.module, target); })) {
      continue;
    }
    return Error{Error::Kind::usage,
                 "--target-modules: no linear layer that may be trained ends in " + target +
                     "; there are q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj, "
                     "and qkv and proj in the vision tower"};
  }
  return std::monostate{};
}

}  // namespace plateau::train
