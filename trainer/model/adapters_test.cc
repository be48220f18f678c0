// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "trainer/model/qwen.h"
#include "trainer/store/weight_names.h"

namespace plateau::train {
namespace {

int64_t adapter_weights(const char* preset) {
  const ModelConfig config = preset_config(preset).value();
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const WeightShape& weight : weight_shapes(config)) {
    shapes[weight.name] = weight.shape;
  }
  const LoraOptions options;
  int64_t sum = 0;
  for (const std::string& module : lora_modules(config, options)) {
    const std::vector<int64_t>& shape = shapes.at(module + ".weight");
    sum += options.rank * (shape[0] + shape[1]);
  }
  return sum;
}

TEST(LoraModules, HaveTheNumberOfWeightsThatOthersCount) {
  EXPECT_EQ(adapter_weights("qwen2.5-vl-3b"), 41084928);
  EXPECT_EQ(adapter_weights("qwen2.5-vl-7b"), 51521536);
}

TEST(LoraModules, FollowTheSwitches) {
  ModelConfig config;
  config.layers = 1;
  config.vision.depth = 1;
  LoraOptions options;
  options.vision = false;
  options.mlp = false;
  EXPECT_THAT(
      lora_modules(config, options),
      testing::ElementsAre("model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.k_proj",
                           "model.layers.0.self_attn.v_proj", "model.layers.0.self_attn.o_proj"));
  options = {.language = false};
  EXPECT_THAT(lora_modules(config, options),
              testing::ElementsAre("visual.blocks.0.attn.qkv", "visual.blocks.0.attn.proj",
                                   "visual.blocks.0.mlp.gate_proj", "visual.blocks.0.mlp.up_proj",
                                   "visual.blocks.0.mlp.down_proj"));
}

TEST(LoraOptions, RankStabilisedScalingDividesByTheRoot) {
  EXPECT_DOUBLE_EQ((LoraOptions{.rank = 16, .alpha = 32}.scaling()), 2);
  EXPECT_DOUBLE_EQ((LoraOptions{.rank = 16, .alpha = 32, .rslora = true}.scaling()), 8);
}

}  // namespace
}  // namespace plateau::train
