// SPDX-License-Identifier: Apache-2.0
#include "trainer/store/narrowed_lora.h"

#include <algorithm>

namespace plateau::train {

LoraOptions narrowed(const ModelConfig& config, LoraOptions options) {
  const std::vector<LinearShape> layers = adapter_layers(config, options);
  const auto any = [&](auto is) { return std::ranges::any_of(layers, is); };
  options.vision = any([](const LinearShape& layer) { return layer.is_vision; });
  options.language = any([](const LinearShape& layer) { return !layer.is_vision; });
  options.mlp = any([](const LinearShape& layer) { return layer.is_mlp; });
  options.attention = any([](const LinearShape& layer) { return !layer.is_mlp; });
  return options;
}

}  // namespace plateau::train
