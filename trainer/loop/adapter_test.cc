// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>

#include "trainer/loop/durable.h"
#include "trainer/loop/half.h"
#include "trainer/loop/merge.h"
#include "trainer/loop/toy_learner_for_test.h"

namespace plateau::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kText = "base_model.model.model.layers.3.mlp.up_proj.lora_A.weight";
const std::string kVision = "base_model.model.visual.blocks.1.attn.qkv.lora_B.weight";

std::vector<NamedTensor> weights(float value) {
  return {{.name = kText, .tensor = tensor_with({value, 1, 2, 3}, {2, 2})},
          {.name = kVision, .tensor = tensor_with({value, 5}, {2, 1})}};
}

TEST(AdapterKey, BothLayoutsTurnIntoEachOther) {
  const std::string text =
      "base_model.model.model.language_model.layers.3.mlp.up_proj.lora_A.weight";
  const std::string vision = "base_model.model.model.visual.blocks.1.attn.qkv.lora_B.weight";
  EXPECT_EQ(adapter_key(kText, AdapterLayout::hf452), text);
  EXPECT_EQ(adapter_key(kVision, AdapterLayout::hf452), vision);
  EXPECT_EQ(adapter_key(text, AdapterLayout::legacy), kText);
  EXPECT_EQ(adapter_key(vision, AdapterLayout::legacy), kVision);
  EXPECT_EQ(adapter_key(text, AdapterLayout::hf452), text);
  EXPECT_EQ(adapter_key(kVision, AdapterLayout::legacy), kVision);
  EXPECT_EQ(adapter_key("model.norm.weight", AdapterLayout::hf452), "model.norm.weight");
}

class EitherLayout : public testing::TestWithParam<AdapterLayout> {};
INSTANTIATE_TEST_SUITE_P(Adapter, EitherLayout,
                         testing::Values(AdapterLayout::hf452, AdapterLayout::legacy));

TEST_P(EitherLayout, ComesBackToTheBit) {
  const ScratchDirectory scratch;
  const fs::path path = scratch.path() / "adapter";
  ASSERT_TRUE(save_adapter(path, weights(0.1F), adapter_config_text({}), GetParam()).ok());
  const auto file = SafetensorsFile::open(path / "adapter_model.safetensors");
  ASSERT_TRUE(file.ok());
  EXPECT_NE(file.value().find(adapter_key(kText, GetParam())), nullptr);
  EXPECT_EQ(file.value().metadata().at("format"), "pt");
  const auto into = weights(9);
  ASSERT_TRUE(load_adapter(path, into).ok());
  for (size_t i = 0; i < into.size(); ++i) {
    EXPECT_EQ(values_in(into[i].tensor), values_in(weights(0.1F)[i].tensor));
  }
}

TEST(Adapter, MismatchListsTheFirstFewAndChangesNothing) {
  const ScratchDirectory scratch;
  auto stored = weights(1);
  stored.push_back({.name = "base_model.model.model.layers.9.x.lora_A.weight",
                    .tensor = tensor_with({1}, {1, 1})});
  ASSERT_TRUE(save_adapter(scratch.path() / "a", stored, "{}", AdapterLayout::hf452).ok());
  auto model = weights(7);
  model[1].tensor = tensor_with({7, 7, 7}, {3, 1});
  for (int i = 0; i < 9; ++i) {
    model.push_back({.name = "base_model.model.visual.new" + std::to_string(i),
                     .tensor = tensor_with({1}, {1})});
  }
  const auto loaded = load_adapter(scratch.path() / "a", model);
  ASSERT_FALSE(loaded.ok());
  const std::string& message = loaded.error().message;
  EXPECT_THAT(message, HasSubstr("11 differences"));
  EXPECT_THAT(message, HasSubstr("qkv.lora_B.weight is F32 [2, 1], the model has F32 [3, 1]"));
  EXPECT_THAT(message, HasSubstr("new0 is missing"));
  EXPECT_THAT(message, testing::Not(HasSubstr("new8")));
  EXPECT_EQ(values_in(model[0].tensor)[0], 7);
}

TEST(AdapterConfig, ComesBackAndHasPeftsFields) {
  const AdapterConfig config{.base_model = "Qwen/x \"y\"",
                             .rank = 8,
                             .alpha = 32,
                             .dropout = 0.05,
                             .rslora = true,
                             .target_modules = {"q_proj", "visual.blocks.0.attn.qkv"}};
  const std::string text = adapter_config_text(config);
  EXPECT_THAT(text, HasSubstr("\"peft_type\": \"LORA\""));
  EXPECT_THAT(text, HasSubstr("\"lora_alpha\": 32"));
  const auto back = parse_adapter_config(text, "f");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(adapter_config_text(back.value()), text);
  EXPECT_DOUBLE_EQ(back.value().scaling(), 32 / std::sqrt(8.0));
  EXPECT_DOUBLE_EQ((AdapterConfig{.rank = 8, .alpha = 32}).scaling(), 4);
}

TEST(AdapterConfig, NamesModulesInTheLayoutOfTheTensors) {
  const AdapterConfig config{.target_modules = {"model.layers.3.mlp.up_proj", "q_proj"}};
  EXPECT_THAT(adapter_config_text(config, AdapterLayout::hf452),
              HasSubstr("\"model.language_model.layers.3.mlp.up_proj\""));
  EXPECT_THAT(adapter_config_text(config, AdapterLayout::legacy),
              HasSubstr("\"model.layers.3.mlp.up_proj\""));
  EXPECT_THAT(adapter_config_text(config), HasSubstr("\"q_proj\""));
}

TEST(Adapter, SaysWhichModulesItChanges) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(save_adapter(scratch.path() / "a", weights(1), "{}", AdapterLayout::hf452).ok());
  const auto modules = adapter_modules(scratch.path() / "a");
  ASSERT_TRUE(modules.ok());
  EXPECT_THAT(modules.value(),
              testing::ElementsAre("model.layers.3.mlp.up_proj", "visual.blocks.1.attn.qkv"));
  const std::vector<NamedTensor> other{{.name = "x.weight", .tensor = tensor_with({1}, {1})}};
  ASSERT_TRUE(save_adapter(scratch.path() / "b", other, "{}", AdapterLayout::hf452).ok());
  EXPECT_THAT(adapter_modules(scratch.path() / "b").error().message,
              HasSubstr("x.weight is not part of a LoRA adapter"));
}

TEST(Adapter, SixteenBitWeightsAreWidened) {
  const ScratchDirectory scratch;
  const std::array<uint16_t, 4> halves = {0x3f80, 0x4000, 0xbf00, 0x0000};  // 1, 2, -0.5, 0.
  const TensorView view{.name = kText,
                        .dtype = DType::bf16,
                        .shape = {2, 2},
                        .bytes = std::as_bytes(std::span(halves))};
  ASSERT_TRUE(write_safetensors(scratch.path() / "adapter_model.safetensors", {view}, {}).ok());
  const std::vector<NamedTensor> into{{.name = kText, .tensor = tensor_with({9, 9, 9, 9}, {2, 2})}};
  ASSERT_TRUE(load_adapter(scratch.path(), into).ok());
  EXPECT_EQ(values_in(into[0].tensor), (std::vector<float>{1, 2, -0.5F, 0}));
}

TEST(AdapterConfig, WhatWouldSilentlyBeWrongIsRefused) {
  const std::string good = R"({"peft_type": "LORA", "r": 4, "lora_alpha": 8)";
  EXPECT_TRUE(parse_adapter_config(good + "}", "f").ok());
  for (const char* more :
       {R"("bias": "all")", R"("rank_pattern": {"q": 2})", R"("alpha_pattern": {"q": 2})",
        R"("fan_in_fan_out": true)", R"("modules_to_save": ["lm_head"])", R"("lora_bias": true)",
        R"("init_lora_weights": "pissa_niter_16")", R"("use_bdlora": {"a": 1})",
        R"("alora_invocation_tokens": [1])", R"("layer_replication": [[0, 2]])"}) {
    const auto parsed = parse_adapter_config(good + ", " + more + "}", "f");
    ASSERT_FALSE(parsed.ok()) << more;
    EXPECT_TRUE(parsed.error().message.starts_with("f: "));
  }
  EXPECT_FALSE(parse_adapter_config(R"({"peft_type": "IA3", "r": 4, "lora_alpha": 8})", "f").ok());
  EXPECT_FALSE(parse_adapter_config(R"({"peft_type": "LORA", "r": 0, "lora_alpha": 8})", "f").ok());
  EXPECT_FALSE(parse_adapter_config("[", "f").ok());
}

TEST(Half, EveryF16ComesBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = float_of_f16(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_of_f16(f16_of_float(value))));
    } else {
      ASSERT_EQ(f16_of_float(value), half);
    }
  }
}

TEST(Half, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(float_of_bf16(bf16_of_float(1.0F + 1.0F / 256)), 1.0F);
  EXPECT_EQ(float_of_bf16(bf16_of_float(1.0F + 3.0F / 256)), 1.0F + 4.0F / 256);
  EXPECT_EQ(float_of_bf16(bf16_of_float(1.0F + 1.1F / 256)), 1.0F + 2.0F / 256);
  EXPECT_EQ(float_of_f16(f16_of_float(1.0F + 1.0F / 2048)), 1.0F);
  EXPECT_EQ(float_of_f16(f16_of_float(1.0F + 3.0F / 2048)), 1.0F + 4.0F / 2048);
  EXPECT_EQ(f16_of_float(65519), 0x7bff);
  EXPECT_EQ(f16_of_float(65520), 0x7c00);
  EXPECT_EQ(f16_of_float(-0.0F), 0x8000);
  EXPECT_TRUE(std::isnan(float_of_bf16(bf16_of_float(std::nanf("")))));
  EXPECT_EQ(bf16_of_float(std::numeric_limits<float>::max()), 0x7f80);
}

RC_GTEST_PROP(Half, RoundingIsNoFurtherThanHalfAStep, ()) {
  // Everything from far below the smallest half to near the largest.
  const auto digits = static_cast<float>(*rc::gen::inRange(-59999, 60000));
  const float value = std::ldexp(digits + 0.37F, -*rc::gen::inRange(0, 45));
  const uint16_t bits = f16_of_float(value);
  const double error = std::fabs(static_cast<double>(float_of_f16(bits)) - value);
  const auto up = static_cast<uint16_t>((bits & 0x7fffU) + 1U);
  const double step = static_cast<double>(float_of_f16(up)) - float_of_f16(bits & 0x7fffU);
  RC_ASSERT(error <= step / 2);
}

std::span<const std::byte> bytes_in(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

// Two shards, one in bf16; the adapter changes one weight of each.
struct MergeCase {
  ScratchDirectory scratch;
  fs::path model = scratch.path() / "model";
  fs::path adapter = scratch.path() / "adapter";
  fs::path out = scratch.path() / "merged";
  std::vector<float> q{1, 2, 3, 4, 5, 6};     // [2, 3]
  std::vector<uint16_t> qkv{0x3f80, 0x4000};  // bf16 1, 2 as [2, 1]
  std::vector<float> norm{9, 8};

  MergeCase() {
    fs::create_directories(model);
    const TensorView q_view{
        "model.layers.0.self_attn.q_proj.weight", DType::f32, {2, 3}, bytes_in(q)};
    const TensorView norm_view{"model.norm.weight", DType::f32, {2}, bytes_in(norm)};
    const TensorView qkv_view{
        "visual.blocks.0.attn.qkv.weight", DType::bf16, {2, 1}, std::as_bytes(std::span(qkv))};
    const fs::path first = model / "model-00001-of-00002.safetensors";
    const fs::path second = model / "model-00002-of-00002.safetensors";
    EXPECT_TRUE(write_safetensors(first, {q_view, norm_view}, {{"format", "pt"}}).ok());
    EXPECT_TRUE(write_safetensors(second, {qkv_view}, {{"format", "pt"}}).ok());
    std::ofstream(model / "model.safetensors.index.json")
        << R"({"metadata": {"total_size": 36}, "weight_map": {)"
        << R"("model.layers.0.self_attn.q_proj.weight": "model-00001-of-00002.safetensors",)"
        << R"("model.norm.weight": "model-00001-of-00002.safetensors",)"
        << R"("visual.blocks.0.attn.qkv.weight": "model-00002-of-00002.safetensors"}})";
    std::ofstream(model / "config.json") << "{\"a\": 1}";
    std::ofstream(model / "tokenizer.json") << "{}";
    std::ofstream(model / "pytorch_model.bin") << "old";
    const std::string prefix = "base_model.model.model.layers.0.self_attn.q_proj.lora_";
    const std::string vision = "base_model.model.visual.blocks.0.attn.qkv.lora_";
    const std::vector<NamedTensor> lora{
        {prefix + "A.weight", tensor_with({1, 0, 2, 0, 1, 0}, {2, 3})},
        {prefix + "B.weight", tensor_with({1, 0, 0, 10}, {2, 2})},
        {vision + "A.weight", tensor_with({1, 1}, {2, 1})},
        {vision + "B.weight", tensor_with({0.001F, 0, 1, 2}, {2, 2})}};
    const std::string config = adapter_config_text({.rank = 2, .alpha = 4});
    EXPECT_TRUE(save_adapter(adapter, lora, config, AdapterLayout::hf452).ok());
  }
};

TEST(Merge, AddsTheScaledProductInTheTypeOfTheShard) {
  const MergeCase given;
  const auto report = merge_adapter(given.model, given.adapter, given.out);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report.value().tensors, 3);
  EXPECT_EQ(report.value().merged, 2);
  const auto first = SafetensorsFile::open(given.out / "model-00001-of-00002.safetensors");
  const auto second = SafetensorsFile::open(given.out / "model-00002-of-00002.safetensors");
  ASSERT_TRUE(first.ok() && second.ok());
  // scaling 2; B A = [[1, 0, 2], [0, 10, 0]].
  std::vector<float> q(6);
  std::memcpy(q.data(), first.value().find("model.layers.0.self_attn.q_proj.weight")->bytes.data(),
              24);
  EXPECT_EQ(q, (std::vector<float>{3, 2, 7, 4, 25, 6}));
  // 1.002 rounds to 1 in bf16; 2 + 2 * 3 is 8.
  std::vector<uint16_t> qkv(2);
  const TensorView* view = second.value().find("visual.blocks.0.attn.qkv.weight");
  std::memcpy(qkv.data(), view->bytes.data(), 4);
  EXPECT_EQ(view->dtype, DType::bf16);
  EXPECT_EQ(qkv, (std::vector<uint16_t>{0x3f80, 0x4100}));
  EXPECT_EQ(first.value().metadata().at("format"), "pt");

  for (const char* name : {"config.json", "tokenizer.json", "model.safetensors.index.json"}) {
    EXPECT_EQ(read_whole(given.out / name).value(), read_whole(given.model / name).value());
  }
  EXPECT_FALSE(fs::exists(given.out / "pytorch_model.bin"));
  EXPECT_FALSE(merge_adapter(given.model, given.adapter, given.out).ok()) << "it is not empty";
}

TEST(Merge, WeightsThatTheAdapterLeavesAreTheSameBytes) {
  const MergeCase given;
  ASSERT_TRUE(merge_adapter(given.model, given.adapter, given.out).ok());
  const auto shard = SafetensorsFile::open(given.out / "model-00001-of-00002.safetensors");
  std::vector<float> norm(2);
  std::memcpy(norm.data(), shard.value().find("model.norm.weight")->bytes.data(), 8);
  EXPECT_EQ(norm, given.norm);
}

TEST(Merge, AdapterOfAnotherModelIsRefusedBeforeAnythingIsWritten) {
  const MergeCase given;
  const std::string config = adapter_config_text({.rank = 1, .alpha = 1});
  const auto save = [&](const std::string& module, const std::vector<int64_t>& a,
                        const std::vector<int64_t>& b) {
    const auto filled = [](const std::vector<int64_t>& shape) {
      return tensor_with(std::vector<float>(static_cast<size_t>(shape[0] * shape[1]), 1.0F), shape);
    };
    const std::string key = "base_model.model." + module;
    ASSERT_TRUE(
        save_adapter(given.adapter,
                     {{key + ".lora_A.weight", filled(a)}, {key + ".lora_B.weight", filled(b)}},
                     config, AdapterLayout::legacy)
            .ok());
  };
  save("model.layers.7.self_attn.q_proj", {1, 3}, {2, 1});
  auto merged = merge_adapter(given.model, given.adapter, given.out);
  ASSERT_FALSE(merged.ok());
  EXPECT_THAT(merged.error().message, HasSubstr("no model.layers.7.self_attn.q_proj.weight"));
  save("model.layers.0.self_attn.q_proj", {1, 2}, {2, 1});
  merged = merge_adapter(given.model, given.adapter, given.out);
  ASSERT_FALSE(merged.ok());
  EXPECT_THAT(merged.error().message, HasSubstr("does not take A [1, 2]"));
  EXPECT_FALSE(fs::exists(given.out));
}

}  // namespace
}  // namespace plateau::train
