// SPDX-License-Identifier: Apache-2.0
#include "trainer/store/model_config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "trainer/store/config_check.h"

namespace plateau::train {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// The flat form of the hub, small.
constexpr std::string_view kFlat = R"({
  "architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl",
  "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2,
  "vision_start_token_id": 200, "vision_end_token_id": 201, "vision_token_id": 202,
  "image_token_id": 203, "video_token_id": 204, "hidden_act": "silu", "hidden_size": 64,
  "intermediate_size": 128, "max_position_embeddings": 128000, "max_window_layers": 70,
  "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 2,
  "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "sliding_window": 32768,
  "tie_word_embeddings": true, "torch_dtype": "bfloat16", "use_sliding_window": false,
  "vision_config": {"depth": 4, "hidden_act": "silu", "hidden_size": 32, "intermediate_size": 48,
    "num_heads": 2, "in_chans": 3, "out_hidden_size": 64, "patch_size": 14,
    "spatial_merge_size": 2, "spatial_patch_size": 14, "window_size": 112,
    "fullatt_block_indexes": [1, 3], "tokens_per_second": 2, "temporal_patch_size": 2},
  "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]}, "vocab_size": 256})";

// The nested form, in the spelling of version 5.
constexpr std::string_view kNested = R"({
  "model_type": "qwen2_5_vl", "dtype": "float32",
  "text_config": {"model_type": "qwen2_5_vl_text", "vocab_size": 256, "hidden_size": 64,
    "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "tie_word_embeddings": true,
    "image_token_id": null, "bos_token_id": 1, "eos_token_id": 2,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0,
      "mrope_section": [2, 3, 3]}},
  "vision_config": {"depth": 4, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2,
    "in_channels": 3, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2,
    "window_size": 112, "out_hidden_size": 64, "fullatt_block_indexes": [1, 3],
    "tokens_per_second": 2},
  "image_token_id": 203, "video_token_id": 204,
  "vision_start_token_id": 200, "vision_end_token_id": 201})";

std::string replaced(std::string_view json, std::string_view old, std::string_view by) {
  std::string text(json);
  const size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), by);
}

std::string error_of(std::string_view json) {
  const Result<ModelConfig> config = parse_model_config(json, "m/config.json");
  return config.ok() ? "" : config.error().message;
}

TEST(ModelConfig, ReadsTheFlatForm) {
  const Result<ModelConfig> read = parse_model_config(kFlat, "config.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const ModelConfig& config = read.value();
  EXPECT_EQ(config.hidden_size, 64);
  EXPECT_EQ(config.intermediate_size, 128);
  EXPECT_EQ(config.layers, 2);
  EXPECT_EQ(config.heads, 4);
  EXPECT_EQ(config.kv_heads, 2);
  EXPECT_EQ(config.head_dim(), 16);
  EXPECT_EQ(config.vocab_size, 256);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(config.rms_norm_eps, 1e-6);
  EXPECT_EQ(config.rope_theta, 1e6);
  EXPECT_THAT(config.mrope_section, ElementsAre(2, 3, 3));
  EXPECT_EQ(config.bos_token, 1);
  EXPECT_EQ(config.eos_token, 2);
  EXPECT_EQ(config.image_token, 203);
  EXPECT_EQ(config.video_token, 204);
  EXPECT_EQ(config.vision_start_token, 200);
  EXPECT_EQ(config.vision_end_token, 201);
  EXPECT_EQ(config.vision.depth, 4);
  EXPECT_EQ(config.vision.heads, 2);
  EXPECT_EQ(config.vision.patch_values(), 3 * 2 * 14 * 14);
  EXPECT_EQ(config.vision.window_size, 112);
  EXPECT_THAT(config.vision.full_attention_blocks, ElementsAre(1, 3));
  EXPECT_EQ(config.vision.tokens_per_second, 2);
}

TEST(ModelConfig, TheNestedFormSaysTheSame) {
  const Result<ModelConfig> nested = parse_model_config(kNested, "config.json");
  ASSERT_TRUE(nested.ok()) << nested.error().message;
  const Result<ModelConfig> flat = parse_model_config(kFlat, "config.json");
  ASSERT_TRUE(flat.ok());
  EXPECT_EQ(config_json(nested.value()), config_json(flat.value()));
}

// As the reference model of the tests was saved: nested, with neither bos nor eos.
TEST(ModelConfig, TokensThatNothingNeedsMayBeAbsent) {
  std::string json = replaced(kNested, R"("bos_token_id": 1, "eos_token_id": 2,)", "");
  const Result<ModelConfig> config = parse_model_config(json, "config.json");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config.value().bos_token, -1);
  EXPECT_EQ(config.value().eos_token, -1);
}

TEST(ModelConfig, KeysInBothPlacesMayAgreeButNotDiffer) {
  const std::string same = replaced(kNested, R"("dtype": "float32",)", R"("hidden_size": 64,)");
  EXPECT_EQ(error_of(same), "");
  const std::string other =
      replaced(kNested, R"("dtype": "float32",)", R"("tie_word_embeddings": false,)");
  EXPECT_THAT(error_of(other), AllOf(HasSubstr("\"tie_word_embeddings\""),
                                     HasSubstr("\"text_config.tie_word_embeddings\" differ")));
  const std::string channels =
      replaced(kFlat, R"("in_chans": 3)", R"("in_chans": 3, "in_channels": 4)");
  EXPECT_THAT(error_of(channels), HasSubstr("in_channels\" differ"));
}

TEST(ModelConfig, AMissingKeyIsNamedWithItsFile) {
  for (const char* key :
       {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads", "vocab_size", "tie_word_embeddings", "rms_norm_eps", "rope_theta",
        "rope_scaling", "mrope_section", "image_token_id", "video_token_id",
        "vision_start_token_id", "vision_end_token_id", "vision_config"}) {
    const std::string json =
        replaced(kFlat, fmt::format("\"{}\"", key), fmt::format("\"not_{}\"", key));
    EXPECT_THAT(error_of(json), AllOf(HasSubstr("m/config.json: has no key"), HasSubstr(key)));
  }
  for (const char* key :
       {"depth", "num_heads", "in_chans", "out_hidden_size", "patch_size", "spatial_merge_size",
        "window_size", "fullatt_block_indexes", "tokens_per_second", "temporal_patch_size"}) {
    const std::string json =
        replaced(kFlat, fmt::format("\"{}\"", key), fmt::format("\"not_{}\"", key));
    EXPECT_THAT(error_of(json), HasSubstr(fmt::format("has no key \"vision_config.{}\"", key)));
  }
}

TEST(ModelConfig, SizesThatDoNotFitAreErrors) {
  const auto with = [](std::string_view old, std::string_view by) {
    return error_of(replaced(kFlat, old, by));
  };
  EXPECT_THAT(with(R"("num_attention_heads": 4)", R"("num_attention_heads": 6)"),
              HasSubstr("hidden_size 64 is not a multiple of num_attention_heads 6"));
  EXPECT_THAT(with(R"("num_key_value_heads": 2)", R"("num_key_value_heads": 3)"),
              HasSubstr("num_key_value_heads 3"));
  EXPECT_THAT(with("[2, 3, 3]", "[2, 3, 4]"), HasSubstr("adds up to 9"));
  EXPECT_THAT(with("[2, 3, 3]", "[-2, 5, 5]"), HasSubstr("mrope_section holds -2"));
  EXPECT_THAT(with("[2, 3, 3]", "[4, 4]"), HasSubstr("has 2 numbers, expected 3"));
  EXPECT_THAT(with("[2, 3, 3]", "[9223372036854775807, 9223372036854775807, 10]"),
              HasSubstr("mrope_section holds"));
  EXPECT_THAT(with(R"("num_heads": 2)", R"("num_heads": 5)"), HasSubstr("num_heads 5"));
  EXPECT_THAT(with(R"("num_heads": 2)", R"("num_heads": 16)"), HasSubstr("multiple of 4"));
  EXPECT_THAT(with(R"("out_hidden_size": 64)", R"("out_hidden_size": 65)"),
              HasSubstr("out_hidden_size 65"));
  EXPECT_THAT(with("[1, 3]", "[1, 4]"), HasSubstr("4 is no block of 4"));
  EXPECT_THAT(with("[1, 3]", "[1, 1]"), HasSubstr("stands twice"));
  EXPECT_THAT(with(R"("window_size": 112)", R"("window_size": 27)"), HasSubstr("window_size 27"));
  EXPECT_THAT(with(R"("image_token_id": 203)", R"("image_token_id": 256)"),
              HasSubstr("image_token_id is 256"));
  EXPECT_THAT(with(R"("rope_theta": 1000000.0)", R"("rope_theta": 0)"), HasSubstr("rope_theta"));
  EXPECT_THAT(with(R"("rms_norm_eps": 1e-06)", R"("rms_norm_eps": -1)"), HasSubstr("rms_norm_eps"));
}

TEST(ModelConfig, AbsurdSizesAreErrors) {
  for (const char* value : {"0", "-1", "9223372036854775807", "1048577", "18446744073709551615",
                            "2.5", "\"64\"", "[64]"}) {
    const std::string json = replaced(kFlat, R"("intermediate_size": 128)",
                                      fmt::format(R"("intermediate_size": {})", value));
    EXPECT_THAT(error_of(json), HasSubstr("intermediate_size")) << value;
  }
}

TEST(ModelConfig, WhatIsNotSupportedIsSaid) {
  const auto with = [](std::string_view old, std::string_view by) {
    return error_of(replaced(kFlat, old, by));
  };
  EXPECT_THAT(with(R"("model_type": "qwen2_5_vl")", R"("model_type": "qwen2_vl")"),
              HasSubstr("\"model_type\" is qwen2_vl, supported is only qwen2_5_vl"));
  EXPECT_THAT(with(R"("type": "mrope")", R"("type": "yarn")"), HasSubstr("yarn"));
  EXPECT_THAT(with(R"("use_sliding_window": false)", R"("use_sliding_window": true)"),
              HasSubstr("use_sliding_window"));
  EXPECT_THAT(with(R"("hidden_act": "silu")", R"("hidden_act": "gelu")"), HasSubstr("gelu"));
  EXPECT_THAT(with(R"("vocab_size": 256)", R"("vocab_size": 256, "head_dim": 32)"),
              HasSubstr("head_dim"));
}

TEST(ModelConfig, TextThatIsNoObjectIsAnError) {
  for (const std::string_view text : {"", "[]", "{", "null", "{\"a\": 1", "\xff"}) {
    EXPECT_THAT(error_of(text), HasSubstr("m/config.json: not a JSON object"));
  }
}

TEST(ModelConfig, AMissingFileIsNamed) {
  const Result<ModelConfig> config = read_model_config("/nonexistent");
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(config.error().message, HasSubstr("/nonexistent/config.json"));
}

TEST(Presets, FitThemselvesAndSurviveBeingWritten) {
  for (const char* name : {"qwen2.5-vl-3b", "qwen2.5-vl-7b", "tiny"}) {
    const Result<ModelConfig> preset = preset_config(name);
    ASSERT_TRUE(preset.ok());
    EXPECT_EQ(config_contradiction(preset.value()), std::nullopt) << name;
    const std::string json = config_json(preset.value());
    const Result<ModelConfig> again = parse_model_config(json, name);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(config_json(again.value()), json);
    EXPECT_EQ(again.value().vision.full_attention_blocks,
              preset.value().vision.full_attention_blocks);
    EXPECT_EQ(again.value().rms_norm_eps, preset.value().rms_norm_eps);
  }
  EXPECT_THAT(preset_config("qwen3").error().message, HasSubstr("there are qwen2.5-vl-3b"));
}

TEST(Presets, TinyHasWindowsSmallerThanItsPictures) {
  const ModelConfig tiny = preset_config("tiny").value();
  EXPECT_LT(tiny.vision.window_size, 112);
  EXPECT_LT(tiny.vision.full_attention_blocks.size(), static_cast<size_t>(tiny.vision.depth));
  EXPECT_LT(tiny.kv_heads, tiny.heads);
}

// Any small change to a good file gives a configuration that fits, or a message.
TEST(ModelConfig, WhatIsAcceptedFitsTogether) {
  rc::check([] {
    std::string json(kFlat);
    const auto at = *rc::gen::inRange<size_t>(0, json.size());
    json[at] = *rc::gen::element('0', '1', '9', '-', '.', 'e', '"', ' ', ',', '}');
    const Result<ModelConfig> config = parse_model_config(json, "x");
    if (config.ok()) {
      RC_ASSERT(config_contradiction(config.value()) == std::nullopt);
    } else {
      RC_ASSERT(config.error().message.starts_with("x: "));
    }
  });
}

}  // namespace
}  // namespace plateau::train
