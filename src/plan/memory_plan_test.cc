// SPDX-License-Identifier: Apache-2.0
#include "plan/memory_plan.h"

#include <gmock/gmock.h>

#include <cmath>

#include "plan/activations.h"
#include "plan/plan_json.h"
#include "plan/published_configs_for_test.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;

PlannedModel model_of(const std::string& json) {
  PlannedModel model;
  model.shape = parse_model_shape(json, "config.json").value();
  model.weights = count_weights(model.shape);
  return model;
}

// Small enough to be run with torch's saved-tensor hooks, which gave the numbers below.
ModelShape small(const std::string& family, const std::string& more = "") {
  return parse_model_shape(R"({"model_type": ")" + family +
                               R"(", "hidden_size": 128, "intermediate_size": 384,
    "num_hidden_layers": 8, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 1000)" +
                               more + "}",
                           "config.json")
      .value();
}

TrainingSetup setup_of(TrainingMethod method, Precision dtype) {
  TrainingSetup setup;
  setup.device = TrainingDevice::cpu;
  setup.method = method;
  setup.dtype = dtype;
  setup.rank = 8;
  setup.targets = {"all-linear"};
  return setup;
}

double kept(const ModelShape& shape, const TrainingSetup& setup) {
  return layer_bytes(shape, shape.text, false, setup, 128).kept;
}

TEST(Activations, EqualWhatAutogradSavesOfALlama) {
  EXPECT_EQ(kept(small("llama"), setup_of(TrainingMethod::full, Precision::fp32)), 10'776);
  EXPECT_EQ(kept(small("llama"), setup_of(TrainingMethod::lora, Precision::fp32)), 9'976);
  EXPECT_EQ(kept(small("llama"), setup_of(TrainingMethod::full, Precision::bf16)), 5'912);
  EXPECT_EQ(kept(small("llama"), setup_of(TrainingMethod::lora, Precision::bf16)), 8'952);
  TrainingSetup two = setup_of(TrainingMethod::lora, Precision::bf16);
  two.targets = {"q_proj", "v_proj"};
  EXPECT_EQ(kept(small("llama"), two), 5'208);
  two.dtype = Precision::fp32;
  EXPECT_EQ(kept(small("llama"), two), 7'768);
}

TEST(Activations, EqualWhatAutogradSavesOfEagerAttention) {
  TrainingSetup setup = setup_of(TrainingMethod::full, Precision::fp32);
  setup.attention = AttentionKind::eager;
  EXPECT_EQ(kept(small("llama"), setup), 13'320);
  EXPECT_EQ(kept(small("gemma2"), setup),
            17'424);  // Hooks say 8 more: weights of norms.
  setup.dtype = Precision::bf16;
  EXPECT_EQ(kept(small("llama"), setup), 9'224);
}

TEST(Activations, EqualWhatAutogradSavesOfNormedQueries) {
  EXPECT_EQ(kept(small("qwen3"), setup_of(TrainingMethod::full, Precision::fp32)), 12'336);
}

double line(const MemorySide& side, const std::string& name) {
  for (const MemoryLine& each : side.lines) {
    if (each.name == name) return each.bytes;
  }
  return 0;
}

TrainingSetup on_gpu(TrainingMethod method) {
  TrainingSetup setup = setup_of(method, Precision::bf16);
  setup.device = TrainingDevice::cuda;
  setup.has_autocast = true;
  return setup;
}

TEST(MemoryPlan, LinesAddUpToThePeak) {
  for (const PublishedConfig& each : kPublishedConfigs) {
    TrainingSetup setup = on_gpu(TrainingMethod::full);
    setup.saves_checkpoints = false;
    const MemoryPlan plan = make_memory_plan(model_of(each.json), setup);
    for (const MemorySide* side : {&plan.host, &*plan.gpu}) {
      double sum = 0;
      for (const MemoryLine& of : side->lines) sum += of.bytes;
      EXPECT_DOUBLE_EQ(sum, side->peak) << each.name;
      EXPECT_LE(side->resident, side->peak);
    }
  }
}

TEST(MemoryPlan, OnACpuTheFullestHeapAndTheLogitsAddUp) {
  const PlannedModel model = model_of(
      R"({"model_type": "llama", "hidden_size": 512, "intermediate_size": 1536, "num_hidden_layers": 8,
          "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 16000})");
  TrainingSetup setup = setup_of(TrainingMethod::full, Precision::fp32);
  setup.batch = 4;
  setup.tokens = 512;
  setup.saves_checkpoints = false;
  const MemoryPlan plan = make_memory_plan(model, setup);
  EXPECT_FALSE(plan.gpu.has_value());
  EXPECT_EQ(line(plan.host, "gradients"), 0);
  EXPECT_EQ(line(plan.host, "logits"), 2048.0 * 16000 * 12);
  EXPECT_NEAR(line(plan.host, "heap"), 0.3 * line(plan.host, "activations"), 1);
  // Measured: 2,318 MB.
  EXPECT_NEAR(plan.host.peak, 2'318e6, 0.05 * 2'318e6);
  setup.accumulation = 2;
  EXPECT_NEAR(make_memory_plan(model, setup).host.peak, plan.host.peak + plan.parameters * 4, 1);
}

TEST(MemoryPlan, NestedNf4TakesFourAndAnEighthBits) {
  TrainingSetup setup = on_gpu(TrainingMethod::qlora);
  setup.stack = TrainingStack::trl;
  const PlannedModel model = model_of(kPublishedConfigs[0].json);
  const double linear = 32.0 * (4096.0 * 4096 * 2 + 4096.0 * 1024 * 2 + 3 * 4096.0 * 14336);
  const double rest = 8'030'261'248 - linear;
  EXPECT_NEAR(line(*make_memory_plan(model, setup).gpu, "weights"), linear * 4.127 / 8 + rest * 2,
              2e6);
}

TEST(MemoryPlan, ShardsAreDividedAmongRanks) {
  TrainingSetup setup = on_gpu(TrainingMethod::full);
  setup.ranks = 8;
  const PlannedModel model = model_of(kPublishedConfigs[0].json);
  const double alone = make_memory_plan(model, setup).gpu->peak;
  setup.sharding = ShardingKind::zero3;
  const MemoryPlan shared = make_memory_plan(model, setup);
  EXPECT_LT(shared.gpu->peak, alone / 2);
  // Weights, gradients and twelve bytes of optimizer, over eight.
  EXPECT_NEAR(line(*shared.gpu, "optimizer"), 8'030'261'248.0 * 12 / 8, 1);
}

TEST(MemoryPlan, CheckpointingKeepsTheInputsOfLayers) {
  TrainingSetup setup = on_gpu(TrainingMethod::lora);
  setup.tokens = 8192;
  const PlannedModel model = model_of(kPublishedConfigs[0].json);
  const double without = line(*make_memory_plan(model, setup).gpu, "activations");
  setup.checkpointing = Checkpointing::on;
  const double with = line(*make_memory_plan(model, setup).gpu, "activations");
  EXPECT_GT(without, 10 * with);
  EXPECT_NEAR(with, (32 + 3) * 8192.0 * 4096 * 2, 1e6);
  setup.checkpointing = Checkpointing::offload;
  const MemoryPlan offloaded = make_memory_plan(model, setup);
  EXPECT_GE(line(offloaded.host, "offloaded inputs"), 32 * 8192.0 * 4096 * 2);
}

TEST(MemoryPlan, TheHostPaysForWorkersAndKeptPictures) {
  TrainingSetup setup = on_gpu(TrainingMethod::lora);
  setup.workers = 8;
  setup.prefetch = 4;
  setup.batch = 2;
  setup.pictures = 1;
  setup.picture_pixels = 12'000'000;
  setup.resized_pixels = 1'003'520;
  setup.patches = 5120;
  setup.examples = 1000;
  setup.dataset = DatasetPlace::decoded;
  const MemoryPlan plan = make_memory_plan(model_of(kPublishedConfigs[5].json), setup);
  // A row of a patch is 3 x 2 x 14 x 14 values of 4 bytes.
  EXPECT_NEAR(line(plan.host, "prefetched"), 8 * 4 * (2 * 5120 * 1176.0 * 4 + 2 * 2048 * 24), 1);
  EXPECT_EQ(line(plan.host, "kept pictures"), 1000 * 12'000'000.0 * 4);
}

TEST(MemoryPlan, NothingOverflows) {
  const PlannedModel model =
      model_of(R"({"model_type": "llama", "hidden_size": 1000000, "intermediate_size": 10000000,
    "num_hidden_layers": 10000, "num_attention_heads": 10000, "head_dim": 1000000, "vocab_size": 100000000})");
  TrainingSetup setup = on_gpu(TrainingMethod::full);
  setup.tokens = 1'000'000'000;
  setup.batch = 1'000'000;
  setup.attention = AttentionKind::eager;
  const MemoryPlan plan = make_memory_plan(model, setup);
  EXPECT_TRUE(std::isfinite(plan.gpu->peak));
  EXPECT_THAT(plan_json(model, setup, plan, 24e9, changes_to_fit(model, setup, 24e9)),
              HasSubstr("9000000000000000000"));
}

TEST(Fit, OffersWhatCostsLeastFirstAndStopsWhenItFits) {
  TrainingSetup setup = on_gpu(TrainingMethod::full);
  setup.batch = 8;
  setup.attention = AttentionKind::eager;
  const PlannedModel model = model_of(kPublishedConfigs[0].json);
  const std::vector<MemoryChange> changes = changes_to_fit(model, setup, 24e9);
  ASSERT_GE(changes.size(), 3u);
  EXPECT_THAT(changes[0].what, HasSubstr("sdpa"));
  EXPECT_THAT(changes[1].what, HasSubstr("gradient_checkpointing"));
  EXPECT_LE(changes.back().peak, 24e9);
  for (size_t i = 0; i + 1 < changes.size(); ++i) {
    EXPECT_GT(changes[i].peak, 24e9);
    EXPECT_GT(changes[i].peak, changes[i + 1].peak);
  }
}

TEST(Fit, ARunThatFitsNeedsNoChange) {
  EXPECT_TRUE(
      changes_to_fit(model_of(kPublishedConfigs[0].json), on_gpu(TrainingMethod::qlora), 80e9)
          .empty());
}

}  // namespace
}  // namespace plateau
