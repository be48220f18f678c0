// SPDX-License-Identifier: Apache-2.0
// The names of all weights of a model, in the spelling of the hub, and the shapes they must have.
//
// Two generations of names are in use: the hub's ("model.layers.0...", "visual.blocks.0...") and
// the one of transformers since 4.52 ("model.language_model.layers.0...", "model.visual...").
// Everything inside uses the hub's; files may have either.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainer/store/model_config.h"
#include "trainer/store/safetensors.h"

namespace plateau::train {

struct WeightShape {
  std::string name;  // In the spelling of the hub.
  std::vector<int64_t> shape;
};

// All weights, in the order in which a forward pass uses them; no lm_head.weight if it is tied.
std::vector<WeightShape> weight_shapes(const ModelConfig& config);

// Either spelling to the hub's, and the hub's to the newer one. Unknown names come back unchanged.
std::string hub_name(std::string_view name);
std::string nested_name(std::string_view hub_name);

// Every expected tensor is there once with the right shape, and nothing is left over (a head that
// repeats the tied embedding, and rotary tables, are let pass). Errors name the first few.
Result<std::monostate> check_weights(const ModelConfig& config, const WeightFiles& files);

// The tensor under either name; check_weights() has made sure that it exists.
const TensorView& weight(const WeightFiles& files, std::string_view hub_name);

}  // namespace plateau::train
