// SPDX-License-Identifier: Apache-2.0
#include "trainer/store/model_options.h"

#include <gmock/gmock.h>

#include <utility>

#include "trainer/store/narrowed_lora.h"

namespace plateau::train {
namespace {

int64_t adapter_weights(const char* preset) {
  const LoraOptions options;
  int64_t sum = 0;
  for (const LinearShape& layer : adapter_layers(preset_config(preset).value(), options)) {
    sum += options.rank * (layer.inputs + layer.outputs);
  }
  return sum;
}

std::vector<std::string> modules(const LoraOptions& options) {
  ModelConfig config = preset_config("tiny").value();
  config.layers = 1;
  config.vision.depth = 1;
  std::vector<std::string> names;
  for (const LinearShape& layer : adapter_layers(config, options)) names.push_back(layer.module);
  return names;
}

TEST(AdapterLayers, HaveTheNumberOfWeightsThatOthersCount) {
  EXPECT_EQ(adapter_weights("qwen2.5-vl-3b"), 41084928);
  EXPECT_EQ(adapter_weights("qwen2.5-vl-7b"), 51521536);
}

TEST(AdapterLayers, FollowTheSwitches) {
  EXPECT_THAT(modules({.vision = false, .mlp = false}),
              testing::UnorderedElementsAre(
                  "model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.k_proj",
                  "model.layers.0.self_attn.v_proj", "model.layers.0.self_attn.o_proj"));
  EXPECT_THAT(
      modules({.language = false}),
      testing::UnorderedElementsAre("visual.blocks.0.attn.qkv", "visual.blocks.0.attn.proj",
                                    "visual.blocks.0.mlp.gate_proj", "visual.blocks.0.mlp.up_proj",
                                    "visual.blocks.0.mlp.down_proj"));
}

TEST(LoraOptions, RankStabilisedScalingDividesByTheRoot) {
  EXPECT_DOUBLE_EQ((LoraOptions{.rank = 16, .alpha = 32}.scaling()), 2);
  EXPECT_DOUBLE_EQ((LoraOptions{.rank = 16, .alpha = 32, .rslora = true}.scaling()), 8);
}

TEST(Narrowed, TargetsInOneTowerLeaveTheOtherOut) {
  const ModelConfig config = preset_config("tiny").value();
  const LoraOptions some = narrowed(config, {.targets = {"q_proj", "v_proj"}});
  EXPECT_TRUE(some.language && some.attention);
  EXPECT_FALSE(some.vision || some.mlp);
  const LoraOptions all = narrowed(config, {});
  EXPECT_TRUE(all.language && all.attention && all.vision && all.mlp);
  EXPECT_TRUE(check_targets(config, {.targets = {"q_proj"}}).ok());
  EXPECT_FALSE(check_targets(config, {.vision = false, .targets = {"qkv"}}).ok());
}

TEST(ComputedLength, IsRoundedUpInBf16OnTheCpuOnlyAndByAnEighthAtMost) {
  ModelOptions options;
  EXPECT_EQ(computed_length(options, 77), 77);
  options.compute = ComputeType::bf16;
  for (const auto& [count, length] : {std::pair<int64_t, int64_t>{0, 0},
                                      {1, 64},
                                      {64, 64},
                                      {65, 128},
                                      {1000, 1024},
                                      {1025, 1152},
                                      {2048, 2048},
                                      {2049, 2304}}) {
    EXPECT_EQ(computed_length(options, count), length) << count;
  }
  for (int64_t count = 512; count < 5000; ++count) {
    EXPECT_LE(computed_length(options, count) - count, count / 8) << count;
  }
  options.device = "cuda";
  EXPECT_EQ(computed_length(options, 77), 77);
}

}  // namespace
}  // namespace plateau::train
