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
  const auto add = [&](const std::string& block, const std::vector<std::string>& attention) {
    std::vector<std::string> names;
    if (options.attention) {
      names = attention;
    }
    if (options.mlp) {
      names.insert(names.end(), {"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"});
    }
    for (const std::string& name : names) {
      modules.push_back(block + name);
    }
  };
  if (options.vision) {
    for (int64_t i = 0; i < config.vision.depth; ++i) {
      add("visual.blocks." + std::to_string(i) + ".", {"attn.qkv", "attn.proj"});
    }
  }
  if (options.language) {
    for (int64_t i = 0; i < config.layers; ++i) {
      add("model.layers." + std::to_string(i) + ".",
          {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"});
    }
  }
  return modules;
}

}  // namespace plateau::train
