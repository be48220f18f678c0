// SPDX-License-Identifier: Apache-2.0
#include "trainer/store/weight_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "trainer/quant/test_numbers.h"
#include "trainer/store/nf4_tensors.h"
#include "trainer/store/test_files.h"

namespace plateau::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;

int64_t elements(const WeightShape& weight) {
  int64_t count = 1;
  for (const int64_t size : weight.shape) count *= size;
  return count;
}

// Parameters of the weights whose name passes.
int64_t count_if(const ModelConfig& config, const std::function<bool(std::string_view)>& passes) {
  int64_t count = 0;
  for (const WeightShape& weight : weight_shapes(config)) {
    if (passes(weight.name)) count += elements(weight);
  }
  return count;
}

struct PublishedCounts {
  const char* preset;
  int64_t all, text_linears, embedding, merger;
};

// Counts of the published checkpoints.
TEST(WeightShapes, AddUpToThePublishedModels) {
  for (const PublishedCounts& published :
       {PublishedCounts{"qwen2.5-vl-3b", 3'754'622'976, 2'774'532'096, 311'164'928, 36'700'160},
        PublishedCounts{"qwen2.5-vl-7b", 8'292'166'656, 6'525'288'448, 544'997'376, 44'564'480}}) {
    const ModelConfig config = preset_config(published.preset).value();
    EXPECT_EQ(count_if(config, [](auto) { return true; }), published.all);
    EXPECT_EQ(count_if(config,
                       [](std::string_view name) {
                         return name.starts_with("model.layers.") && name.ends_with("_proj.weight");
                       }),
              published.text_linears);
    EXPECT_EQ(count_if(config, [](auto name) { return name == "model.embed_tokens.weight"; }),
              published.embedding);
    EXPECT_EQ(count_if(config, [](auto name) { return name == "lm_head.weight"; }),
              config.tie_word_embeddings ? 0 : published.embedding);
    EXPECT_EQ(count_if(config,
                       [](std::string_view name) {
                         return name.starts_with("visual.blocks.") && name.ends_with(".weight") &&
                                name.find(".norm") == std::string_view::npos;
                       }),
              629'964'800);
    EXPECT_EQ(count_if(config,
                       [](std::string_view name) {
                         return name.starts_with("visual.merger.mlp.") && name.ends_with(".weight");
                       }),
              published.merger);
  }
}

TEST(WeightShapes, TinyHasAboutAMillionParameters) {
  const int64_t count = count_if(preset_config("tiny").value(), [](auto) { return true; });
  EXPECT_GT(count, 800'000);
  EXPECT_LT(count, 1'600'000);
}

TEST(WeightNames, BothGenerationsMeetInTheHubsSpelling) {
  const std::map<std::string, std::string> newer_to_hub{
      {"model.language_model.layers.0.mlp.up_proj.weight", "model.layers.0.mlp.up_proj.weight"},
      {"model.language_model.embed_tokens.weight", "model.embed_tokens.weight"},
      {"model.language_model.norm.weight", "model.norm.weight"},
      {"model.visual.blocks.3.attn.qkv.bias", "visual.blocks.3.attn.qkv.bias"},
      {"lm_head.weight", "lm_head.weight"},
  };
  for (const auto& [newer, hub] : newer_to_hub) {
    EXPECT_EQ(hub_name(newer), hub);
    EXPECT_EQ(hub_name(hub), hub);
    EXPECT_EQ(nested_name(hub), newer);
    EXPECT_EQ(nested_name(newer), newer);
  }
  EXPECT_EQ(hub_name("optimizer.state"), "optimizer.state");
}

TEST(WeightNames, EveryNameOfAModelSurvivesThereAndBack) {
  for (const WeightShape& weight : weight_shapes(preset_config("qwen2.5-vl-7b").value())) {
    EXPECT_EQ(hub_name(nested_name(weight.name)), weight.name);
  }
}

// A model of the smallest sizes, with all its weights in memory.
class StoredModel : public testing::Test {
 protected:
  StoredModel() {
    config_ = preset_config("tiny").value();
    config_.layers = 1;
    config_.vision.depth = 1;
    config_.vision.full_attention_blocks = {0};
    config_.vocab_size = 1024;
    values_.assign(1024 * 352, 0.5F);
    for (const WeightShape& shape : weight_shapes(config_)) add(shape.name, shape.shape);
  }

  void add(const std::string& name, const std::vector<int64_t>& shape, DType dtype = DType::f32) {
    TensorView view{.name = name, .dtype = dtype, .shape = shape};
    view.bytes = std::as_bytes(std::span(values_))
                     .first(static_cast<size_t>(view.elements()) * bytes_of(dtype));
    tensors_[name] = view;
  }

  std::string check() {
    std::vector<TensorView> list;
    for (const auto& [name, view] : tensors_) list.push_back(view);
    const auto path = directory_.path() / "model.safetensors";
    EXPECT_TRUE(write_safetensors(path, list, {{"format", "pt"}}).ok());
    Result<WeightFiles> files = WeightFiles::open(directory_.path());
    if (!files.ok()) return files.error().message;
    files_ = std::move(files.value());
    const Result<std::monostate> checked = check_weights(config_, files_);
    return checked.ok() ? "" : checked.error().message;
  }

  ScratchDirectory directory_;
  ModelConfig config_;
  std::vector<float> values_;
  std::map<std::string, TensorView> tensors_;
  WeightFiles files_;
};

TEST_F(StoredModel, IsCompleteInTheHubsNames) {
  EXPECT_EQ(check(), "");
  EXPECT_EQ(weight(files_, "model.norm.weight").name, "model.norm.weight");
}

TEST_F(StoredModel, IsCompleteInTheNewerNames) {
  std::map<std::string, TensorView> renamed;
  for (auto& [name, view] : tensors_) {
    view.name = nested_name(name);
    renamed[view.name] = view;
  }
  tensors_ = renamed;
  EXPECT_EQ(check(), "");
  EXPECT_EQ(weight(files_, "model.norm.weight").name, "model.language_model.norm.weight");
  EXPECT_EQ(weight(files_, "visual.merger.ln_q.weight").shape[0], 64);
}

TEST_F(StoredModel, MissingWeightsAreCountedAndTheFirstNamed) {
  for (const char* name :
       {"model.norm.weight", "visual.merger.mlp.0.bias", "model.layers.0.self_attn.q_proj.bias",
        "model.layers.0.self_attn.k_proj.bias"}) {
    tensors_.erase(name);
  }
  EXPECT_THAT(check(), AllOf(HasSubstr("model.safetensors: 4 weights are missing: "),
                             HasSubstr("visual.merger.mlp.0.bias"), HasSubstr("and 1 more")));
}

TEST_F(StoredModel, AWrongShapeSaysBoth) {
  add("model.norm.weight", {127});
  EXPECT_THAT(check(), HasSubstr("model.norm.weight is [127], expected [128]"));
  add("model.norm.weight", {1, 128});
  EXPECT_THAT(check(), HasSubstr("is [1, 128], expected [128]"));
}

TEST_F(StoredModel, AWrongTypeIsAnError) {
  add("model.norm.weight", {128}, DType::bf16);
  EXPECT_EQ(check(), "");
  add("model.norm.weight", {128}, DType::i32);
  EXPECT_THAT(check(), HasSubstr("model.norm.weight is I32, expected F32, BF16 or F16"));
}

TEST_F(StoredModel, LeftoversAreNamed) {
  add("model.layers.1.mlp.up_proj.weight", {352, 128});
  EXPECT_THAT(check(),
              HasSubstr("1 tensors are not part of this model: model.layers.1.mlp.up_proj.weight"));
}

TEST_F(StoredModel, ScalesOfAWeightThatIsNotQuantisedAreLeftOver) {
  add("model.norm.weight.absmax", {2});
  EXPECT_THAT(check(), HasSubstr("not part of this model: model.norm.weight.absmax"));
}

TEST_F(StoredModel, AHeadBesideTheTiedEmbeddingAndRotaryTablesAreLetPass) {
  add("lm_head.weight", {1024, 128});
  add("model.rotary_emb.inv_freq", {16});
  add("visual.rotary_pos_emb.inv_freq", {8});
  EXPECT_EQ(check(), "");
}

TEST_F(StoredModel, AnUntiedHeadIsNeeded) {
  config_.tie_word_embeddings = false;
  EXPECT_THAT(check(), HasSubstr("1 weights are missing: lm_head.weight"));
}

TEST_F(StoredModel, AWeightUnderBothNamesIsAnError) {
  add("model.language_model.norm.weight", {128});
  EXPECT_THAT(check(), HasSubstr("model.norm.weight stands there twice"));
}

TEST_F(StoredModel, Nf4WeightsCountAsTheShapesTheyHad) {
  const std::string name = "model.layers.0.mlp.up_proj.weight";
  const std::vector<float> weights = test_numbers(352 * 128, 1);
  const Nf4Weight quantised = quantise_nf4(weights, {352, 128}, true);
  const Nf4Tensors tensors = nf4_tensors(quantised, name, "bfloat16");
  for (const TensorView& view : tensors.views) tensors_[view.name] = view;
  EXPECT_EQ(check(), "");

  const Nf4Weight turned = quantise_nf4(weights, {128, 352}, true);
  const Nf4Tensors other = nf4_tensors(turned, name, "bfloat16");
  for (const TensorView& view : other.views) tensors_[view.name] = view;
  EXPECT_THAT(check(), HasSubstr("up_proj.weight is [128, 352], expected [352, 128]"));

  tensors_.erase(name + ".absmax");
  EXPECT_THAT(check(), HasSubstr("up_proj.weight.absmax\" is missing"));
}

}  // namespace
}  // namespace plateau::train
