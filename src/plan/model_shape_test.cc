// SPDX-License-Identifier: Apache-2.0
#include "plan/model_shape.h"

#include <gmock/gmock.h>

#include "plan/published_configs_for_test.h"
#include "plan/weights.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& json) {
  const Result<ModelShape> shape = parse_model_shape(json, "config.json");
  return shape ? "no error" : shape.error().message;
}

std::string llama_with(const std::string& change) {
  return R"({"model_type": "llama", "hidden_size": 128, "intermediate_size": 384, "num_hidden_layers": 8,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1000)" +
         change + "}";
}

TEST(WeightCount, EqualsTransformersForPublishedModels) {
  for (const PublishedConfig& each : kPublishedConfigs) {
    const Result<ModelShape> shape = parse_model_shape(each.json, "config.json");
    ASSERT_TRUE(shape.ok()) << each.name << ": " << shape.error().message;
    EXPECT_EQ(count_weights(shape.value()).total, each.parameters) << each.name;
  }
}

TEST(ModelShape, UnknownFamiliesAreCountedAsALlamaAndSaySo) {
  const Result<ModelShape> shape = parse_model_shape(kPublishedConfigs[4].json, "config.json");
  ASSERT_TRUE(shape.ok());
  ASSERT_EQ(shape.value().notes.size(), 1u);
  EXPECT_THAT(shape.value().notes[0], HasSubstr("mixtral"));
}

TEST(ModelShape, Gemma3LeavesOutWhatTheLibraryDefaultsSay) {
  const Result<ModelShape> shape = parse_model_shape(
      R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
          "intermediate_size": 10240, "num_hidden_layers": 34}})",
      "config.json");
  ASSERT_TRUE(shape.ok()) << shape.error().message;
  EXPECT_EQ(shape.value().text.heads, 8);
  EXPECT_EQ(shape.value().text.kv_heads, 4);
  EXPECT_EQ(shape.value().text.head_dim, 256);
  EXPECT_EQ(shape.value().vocabulary, 262'208);
}

TEST(ModelShape, WhatIsMissingIsNamed) {
  EXPECT_EQ(error_of("{}"), "config.json: \"num_hidden_layers\" is missing");
  EXPECT_EQ(error_of(R"({"model_type": "llava", "text_config": {"hidden_size": 8}})"),
            "config.json: \"num_hidden_layers\" of \"text_config\" is missing");
  EXPECT_EQ(error_of(R"({"model_type": "llava", "text_config": {"vocab_size": 8}})"),
            "config.json: \"num_hidden_layers\" of \"text_config\" is missing");
}

TEST(ModelShape, AbsurdSizesAreRefused) {
  EXPECT_THAT(error_of(llama_with(R"(, "head_dim": 1e300)")),
              HasSubstr("\"head_dim\" must be a whole number"));
  EXPECT_THAT(error_of(R"({"num_hidden_layers": 100000000})"), HasSubstr("from 1 to 10000"));
  EXPECT_THAT(error_of(R"({"num_hidden_layers": -3})"), HasSubstr("found -3"));
  EXPECT_THAT(error_of(R"({"num_hidden_layers": 1.5})"), HasSubstr("found 1.5"));
  EXPECT_THAT(error_of(R"({"num_hidden_layers": NaN})"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(llama_with(R"(, "num_local_experts": 1e9)")),
              HasSubstr("num_local_experts"));
}

TEST(ModelShape, WrongTypesAreNamed) {
  EXPECT_EQ(error_of(R"({"num_hidden_layers": "32"})"),
            "config.json: \"num_hidden_layers\" must be a whole number, found a string");
  EXPECT_EQ(error_of(R"([1])"), "config.json: a model's configuration is an object, found a list");
  EXPECT_THAT(error_of(llama_with(R"(, "vision_config": 3)")),
              HasSubstr("must be an object, found a number"));
  EXPECT_THAT(error_of(llama_with(R"(, "tie_word_embeddings": "yes")")),
              HasSubstr("must be true or false"));
  EXPECT_THAT(error_of(R"({"model_type": ")" + std::string(1'000'000, 'x') + "\"}"),
              HasSubstr("\"model_type\" has more than 100 letters"));
  EXPECT_THAT(error_of(""), HasSubstr("not JSON"));
}

TEST(ModelShape, AFileThatIsNoneIsOneSentence) {
  EXPECT_THAT(read_model_shape("/nonexistent/model").error().message, HasSubstr("No such file"));
  EXPECT_THAT(read_model_shape("/dev/zero").error().message, HasSubstr("more than 16 MB"));
}

TEST(StoredWeights, HeadersAreSummedWithoutOverflow) {
  const Result<StoredWeights> one = count_header(
      R"({"__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
          "b": {"dtype": "BF16", "shape": [], "data_offsets": [24, 26]}})",
      "m");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one.value().parameters, 7);
  EXPECT_FALSE(one.value().is_packed);
  const Result<StoredWeights> absurd = count_header(
      R"({"a": {"dtype": "F32", "shape": [4294967296, 4294967296, 4294967296]}})", "m");
  ASSERT_TRUE(absurd.ok());
  EXPECT_GT(absurd.value().parameters, 1e28);
  EXPECT_TRUE(count_header(R"({"a": {"dtype": "U8", "shape": [4]}})", "m").value().is_packed);
  EXPECT_THAT(count_header(R"({"a": {"dtype": "F32", "shape": [-1]}})", "m").error().message,
              HasSubstr("has no shape"));
  EXPECT_THAT(count_header("[]", "m").error().message, HasSubstr("not a JSON object"));
}

TEST(Targets, AreMatchedByTheLastPartOfAName) {
  EXPECT_TRUE(is_target({.name = "q_proj"}, {"q_proj", "v_proj"}));
  EXPECT_FALSE(is_target({.name = "k_proj"}, {"q_proj", "v_proj"}));
  EXPECT_TRUE(is_target({.name = "fc1"}, {"all-linear"}));
  EXPECT_FALSE(is_target({.name = "norm", .is_linear = false}, {"all-linear"}));
}

}  // namespace
}  // namespace plateau
