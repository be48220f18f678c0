// SPDX-License-Identifier: Apache-2.0
// What a graph keeps: as little as the header promises, and with checkpointing less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/model/runtime.h"
#include "trainer/model/testing/tiny_model.h"

namespace plateau::train {
namespace {

using testing::HasSubstr;

// Threads that wait for each other make small products slow on a machine that is busy.
struct OneThread : testing::Environment {
  void SetUp() override { use_threads(1); }
};
[[maybe_unused]] const auto* const kOneThread =
    testing::AddGlobalTestEnvironment(new OneThread);  // NOLINT: gtest owns it.

TEST(Checkpointing, GivesGradientsEqualToTheBitAndKeepsLess) {
  for (const double dropout : {0.0, 0.3}) {
    ModelOptions options = options_of(Trained::adapters);
    options.lora.dropout = dropout;
    options.gradient_checkpointing = false;
    const auto plain = tiny_model(options);
    options.gradient_checkpointing = true;
    const auto checkpointed = tiny_model(options);
    fill_adapters(*plain);
    fill_adapters(*checkpointed);
    const Batch batch = long_batch();
    at::manual_seed(3);
    const Footprint without = footprint_of(*plain, batch);
    at::manual_seed(3);
    const Footprint with = footprint_of(*checkpointed, batch);
    EXPECT_LT(with.kept, without.kept / 3);
    EXPECT_LT(with.peak, without.peak);
    for (const auto& [name, grad] : without.gradients) {
      EXPECT_TRUE(at::equal(grad, with.gradients.at(name))) << name << " " << dropout;
      EXPECT_GT(grad.norm().item<double>(), 0) << name;
    }
  }
}

// `tokens` of text, `labelled` of them.
Batch text_batch(int64_t tokens, int64_t labelled) {
  Batch batch;
  batch.rows = 1;
  batch.columns = tokens;
  for (int64_t i = 0; i < tokens; ++i) {
    batch.ids.push_back(i % 190);
    batch.labels.push_back(i >= tokens - labelled ? i % 190 : kNoLabel);
  }
  batch.mask.assign(batch.ids.size(), 1);
  return batch;
}

TEST(Memory, IsWhatTheHeaderSays) {
  const ModelConfig config = tiny_config();
  const int64_t tokens = 400;
  const int64_t labelled = 50;
  for (const bool is_checkpointed : {false, true}) {
    ModelOptions options = options_of(Trained::adapters);
    options.gradient_checkpointing = is_checkpointed;
    const auto model = tiny_model(options);
    const int64_t layer = is_checkpointed
                              ? config.hidden_size
                              : 4 * config.hidden_size + 2 * config.kv_heads * config.head_dim() +
                                    2 * config.intermediate_size + config.heads + 2 +
                                    7 * options.lora.rank;
    const int64_t first = is_checkpointed ? 0 : 1;
    const int64_t values = tokens * (config.layers * layer - first + config.head_dim()) +
                           labelled * (2 * config.hidden_size + 1);
    const auto kept = footprint_of(*model, text_batch(tokens, labelled)).kept;
    EXPECT_NEAR(static_cast<double>(kept), 4.0 * static_cast<double>(values),
                0.04 * static_cast<double>(values));
  }
}

TEST(Memory, OfAPictureIsWhatTheHeaderSays) {
  const ModelConfig config = tiny_config();
  const VisionConfig& vision = config.vision;
  ModelOptions options = options_of(Trained::adapters);
  options.gradient_checkpointing = false;
  const auto adapted = tiny_model(options);
  options.lora.vision = false;
  const auto frozen = tiny_model(options);
  const Batch batch = long_batch();
  const int64_t patches = batch.grids[0].patches();
  const int64_t block = 6 * vision.hidden_size + 2 * vision.intermediate_size + vision.heads + 2 +
                        5 * options.lora.rank;
  const int64_t first = 1;
  const int64_t merger = 2 * vision.hidden_size + 1;
  // With adapters below it, the first layer of text keeps a number for its norm too.
  const int64_t values = patches * (vision.depth * block - first + vision.head_dim() + merger) +
                         batch.grids[0].tokens(2) * config.hidden_size + batch.columns;
  const int64_t kept = footprint_of(*adapted, batch).kept - footprint_of(*frozen, batch).kept;
  EXPECT_NEAR(static_cast<double>(kept), 4.0 * static_cast<double>(values),
              0.04 * static_cast<double>(values));
}

TEST(Vision, FrozenKeepsNothingAndLeavesOtherGradientsAsTheyAre) {
  ModelOptions options = options_of(Trained::adapters);
  options.gradient_checkpointing = false;
  const auto all = tiny_model(options);
  options.lora.vision = false;
  const auto frozen = tiny_model(options);
  const Batch batch = long_batch();
  const Footprint with_vision = footprint_of(*all, batch);
  const Footprint without = footprint_of(*frozen, batch);
  EXPECT_LT(without.kept, with_vision.kept);
  for (const auto& [name, grad] : without.gradients) {
    EXPECT_TRUE(at::equal(grad, with_vision.gradients.at(name))) << name;
    EXPECT_THAT(name, HasSubstr("model.layers."));
  }
}

}  // namespace
}  // namespace plateau::train
