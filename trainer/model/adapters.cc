// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "trainer/model/qwen.h"

namespace plateau::train {

double LoraOptions::scaling() const {
  const auto r = static_cast<double>(rank);
  return rslora ? alpha / std::sqrt(r) : alpha / r;
}

std::vector<std::string> lora_modules(const ModelConfig& config, const LoraOptions& options) {
  std::vector<std::string> modules;
  const auto add = [&](const std::string& block, const std::string& attention_prefix,
                       const std::vector<std::string>& attention) {
    if (options.attention) {
      for (const std::string& name : attention) {
        modules.push_back(block + attention_prefix + name);
      }
    }
    if (options.mlp) {
      for (const char* name : {"gate_proj", "up_proj", "down_proj"}) {
        modules.push_back(block + "mlp." + name);
      }
    }
  };
  if (options.vision) {
    for (int64_t i = 0; i < config.vision.depth; ++i) {
      add("visual.blocks." + std::to_string(i) + ".", "attn.", {"qkv", "proj"});
    }
  }
  if (options.language) {
    for (int64_t i = 0; i < config.layers; ++i) {
      add("model.layers." + std::to_string(i) + ".", "self_attn.",
          {"q_proj", "k_proj", "v_proj", "o_proj"});
    }
  }
  return modules;
}

}  // namespace plateau::train
