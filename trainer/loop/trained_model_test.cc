// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/trained_model.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>

#include "base/testing/scratch_directory.h"
#include "trainer/loop/adapter.h"
#include "trainer/loop/durable.h"
#include "trainer/loop/merge.h"
#include "trainer/loop/toy_learner_for_test.h"
#include "trainer/store/safetensors.h"

namespace plateau::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

template <typename T>
std::span<const std::byte> bytes_in(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <typename T>
std::vector<T> values_at(const SafetensorsFile& file, std::string_view name) {
  const TensorView* view = file.find(name);
  std::vector<T> out(view->bytes.size() / sizeof(T));
  std::memcpy(out.data(), view->bytes.data(), view->bytes.size());
  return out;
}

// A tied model that has its head in the file all the same, in bf16, under transformers' new names.
struct WholeCase {
  ScratchDirectory scratch;
  fs::path model = scratch.path() / "model";
  fs::path out = scratch.path() / "out";
  std::vector<uint16_t> table{0x3f80, 0x4000};  // 1, 2
  std::vector<float> norm{9, 8};

  WholeCase() {
    fs::create_directories(model);
    const auto half = std::as_bytes(std::span(table));
    const TensorView views[] = {
        {"model.language_model.embed_tokens.weight", DType::bf16, {2, 1}, half},
        {"lm_head.weight", DType::bf16, {2, 1}, half},
        {"model.visual.merger.ln_q.weight", DType::f32, {2}, bytes_in(norm)}};
    EXPECT_TRUE(write_safetensors(model / "model.safetensors", {views[0], views[1], views[2]},
                                  {{"format", "pt"}})
                    .ok());
    std::ofstream(model / "config.json") << "{}";
  }
};

TEST(TrainedModel, HasNewValuesInTheOldTypesAndFrozenBytes) {
  const WholeCase given;
  // 1.002 rounds to 1 in bf16.
  const std::vector<NamedTensor> trained = {
      {"model.embed_tokens.weight", tensor_with({1.002F, 8}, {2, 1})}};
  const auto written = write_trained_model(given.model, trained, given.out);
  ASSERT_TRUE(written.ok()) << written.error().message;
  const auto file = SafetensorsFile::open(given.out / "model.safetensors");
  ASSERT_TRUE(file.ok());
  const std::vector<uint16_t> expected = {0x3f80, 0x4100};
  EXPECT_EQ(values_at<uint16_t>(file.value(), "model.language_model.embed_tokens.weight"),
            expected);
  EXPECT_EQ(values_at<uint16_t>(file.value(), "lm_head.weight"), expected);
  EXPECT_EQ(values_at<float>(file.value(), "model.visual.merger.ln_q.weight"), given.norm);
  EXPECT_EQ(read_whole(given.out / "config.json").value(), "{}");
}

TEST(TrainedModel, OtherShapesAreRefusedAndLeaveNothing) {
  const WholeCase given;
  const std::vector<NamedTensor> trained = {
      {"model.embed_tokens.weight", tensor_with({1, 2, 3}, {3, 1})}};
  EXPECT_FALSE(write_trained_model(given.model, trained, given.out).ok());
  EXPECT_FALSE(fs::exists(given.out));
}

TEST(TrainedModel, WeightsInFourBitsAreRefusedBeforeAnythingIsTrained) {
  const WholeCase given;
  EXPECT_TRUE(check_can_be_trained(given.model).ok());
  const std::vector<uint8_t> packed{1, 2};
  ASSERT_TRUE(write_safetensors(given.model / "model.safetensors",
                                {{"a.weight", DType::u8, {2}, bytes_in(packed)}}, {})
                  .ok());
  EXPECT_THAT(check_can_be_trained(given.model).error().message,
              HasSubstr("a.weight is stored as U8"));
}

// Row [3, 4] with B A = [[0, 0], [0, 4]]: rows become [3, 4] and [0, 8] before their lengths.
TEST(MergeDora, BringsRowsToTheirLengths) {
  const ScratchDirectory scratch;
  const fs::path model = scratch.path() / "model";
  const fs::path adapter = scratch.path() / "adapter";
  fs::create_directories(model);
  const std::vector<float> weight{3, 4, 0, 4};
  const std::string name = "model.layers.0.self_attn.q_proj";
  ASSERT_TRUE(write_safetensors(model / "model.safetensors",
                                {{name + ".weight", DType::f32, {2, 2}, bytes_in(weight)}}, {})
                  .ok());
  const std::string key = "base_model.model." + name;
  std::vector<NamedTensor> lora = {{key + ".lora_A.weight", tensor_with({0, 2}, {1, 2})},
                                   {key + ".lora_B.weight", tensor_with({0, 1}, {2, 1})},
                                   {key + ".lora_magnitude_vector", tensor_with({10, 2}, {2})}};
  const std::string config = adapter_config_text({.rank = 1, .alpha = 2, .dora = true});
  ASSERT_TRUE(save_adapter(adapter, lora, config, AdapterLayout::hf452).ok());
  const auto merged = merge_adapter(model, adapter, scratch.path() / "merged");
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  const auto file = SafetensorsFile::open(scratch.path() / "merged" / "model.safetensors");
  EXPECT_EQ(values_at<float>(file.value(), name + ".weight"), (std::vector<float>{6, 8, 0, 2}));

  lora.pop_back();
  ASSERT_TRUE(save_adapter(adapter, lora, config, AdapterLayout::hf452).ok());
  EXPECT_THAT(merge_adapter(model, adapter, scratch.path() / "other").error().message,
              HasSubstr("lacks a lora_magnitude_vector"));
}

}  // namespace
}  // namespace plateau::train
