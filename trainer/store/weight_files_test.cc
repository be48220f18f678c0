// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "trainer/store/safetensors.h"
#include "trainer/store/test_files.h"

namespace plateau::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;

void write_shard(const ScratchDirectory& directory, const std::string& file,
                 const std::vector<std::string>& names) {
  const std::vector<float> values{1, 2, 3};
  std::vector<TensorView> tensors;
  for (const std::string& name : names) {
    tensors.push_back(test_tensor(name, DType::f32, {3}, values));
  }
  ASSERT_TRUE(write_safetensors(directory.path() / file, tensors, {}).ok());
}

std::string error_of(const ScratchDirectory& directory) {
  const Result<WeightFiles> files = WeightFiles::open(directory.path());
  return files.ok() ? "" : files.error().message;
}

constexpr std::string_view kIndex = R"({"metadata":{"total_size":36},"weight_map":{
  "a":"model-1.safetensors","b":"model-2.safetensors","c":"model-1.safetensors"}})";

TEST(WeightFiles, OneFileNeedsNoIndex) {
  const ScratchDirectory directory;
  write_shard(directory, "model.safetensors", {"b", "a"});
  const Result<WeightFiles> files = WeightFiles::open(directory.path());
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files.value().tensors().size(), 2U);
  EXPECT_EQ(files.value().tensors()[0]->name, "a");
  EXPECT_NE(files.value().find("b"), nullptr);
  EXPECT_EQ(files.value().find("c"), nullptr);
}

TEST(WeightFiles, ShardsAreOneSetSortedByName) {
  const ScratchDirectory directory;
  directory.write("model.safetensors.index.json", kIndex);
  write_shard(directory, "model-1.safetensors", {"c", "a"});
  write_shard(directory, "model-2.safetensors", {"b"});
  Result<WeightFiles> opened = WeightFiles::open(directory.path());
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const WeightFiles files = std::move(opened.value());
  ASSERT_EQ(files.tensors().size(), 3U);
  EXPECT_EQ(files.tensors()[1]->name, "b");
  EXPECT_EQ(files.find("b")->bytes.size(), 12U);
  EXPECT_EQ(files.files().size(), 2U);
}

TEST(WeightFiles, AMissingShardIsNamed) {
  const ScratchDirectory directory;
  directory.write("model.safetensors.index.json", kIndex);
  write_shard(directory, "model-1.safetensors", {"c", "a"});
  EXPECT_THAT(error_of(directory), AllOf(HasSubstr("model-2.safetensors: No such file"),
                                         HasSubstr("model.safetensors.index.json names")));
}

TEST(WeightFiles, ATensorThatTheShardLacksIsNamed) {
  const ScratchDirectory directory;
  directory.write("model.safetensors.index.json", kIndex);
  write_shard(directory, "model-1.safetensors", {"a"});
  write_shard(directory, "model-2.safetensors", {"b"});
  EXPECT_THAT(error_of(directory), HasSubstr("model-1.safetensors: has no tensor \"c\""));
}

TEST(WeightFiles, ATensorInTwoShardsIsAnError) {
  const ScratchDirectory directory;
  directory.write("model.safetensors.index.json", kIndex);
  write_shard(directory, "model-1.safetensors", {"c", "a"});
  write_shard(directory, "model-2.safetensors", {"b", "a"});
  EXPECT_THAT(error_of(directory), HasSubstr("\"a\" is in another shard already"));
}

TEST(WeightFiles, ACutShardIsAnError) {
  const ScratchDirectory directory;
  directory.write("model.safetensors.index.json", kIndex);
  write_shard(directory, "model-1.safetensors", {"c", "a"});
  write_shard(directory, "model-2.safetensors", {"b"});
  const auto path = directory.path() / "model-2.safetensors";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_THAT(error_of(directory), HasSubstr("cut short"));
}

TEST(WeightFiles, AnIndexCannotPointOutsideTheDirectory) {
  for (const char* shard : {"../x.safetensors", "/etc/passwd", "..", ""}) {
    const ScratchDirectory directory;
    directory.write("model.safetensors.index.json",
                    std::string(R"({"weight_map":{"a":")") + shard + R"("}})");
    EXPECT_THAT(error_of(directory), HasSubstr("not the name of a file beside the index"));
  }
}

TEST(WeightFiles, AnIndexWithoutWeightsIsAnError) {
  for (const char* json : {"{}", "{\"weight_map\":{}}", "{\"weight_map\":[]}", "[]"}) {
    const ScratchDirectory directory;
    directory.write("model.safetensors.index.json", json);
    EXPECT_THAT(error_of(directory), HasSubstr("has no \"weight_map\""));
  }
}

TEST(WeightFiles, AnEmptyDirectoryIsToldWhatWasExpected) {
  const ScratchDirectory directory;
  EXPECT_THAT(error_of(directory), HasSubstr("has neither model.safetensors nor"));
}

int64_t resident_file_kb() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int64_t kb = -1;
  while (status >> word) {
    if (word == "RssFile:") status >> kb;
  }
  return kb;
}

TEST(WeightFiles, ReleaseGivesPagesBackAndTheyCanBeReadAgain) {
  const ScratchDirectory directory;
  constexpr int64_t kBytes = 32 << 20;
  const std::vector<uint8_t> values(kBytes, 7);
  ASSERT_TRUE(write_safetensors(directory.path() / "model.safetensors",
                                {test_tensor("a", DType::u8, {kBytes}, values)}, {})
                  .ok());
  const Result<WeightFiles> files = WeightFiles::open(directory.path());
  ASSERT_TRUE(files.ok());
  const TensorView& tensor = *files.value().find("a");
  const auto touch = [&] {
    size_t sum = 0;
    for (size_t i = 0; i < tensor.bytes.size(); i += 1024)
      sum += static_cast<size_t>(tensor.bytes[i]);
    return sum;
  };
  const size_t sum = touch();
  const int64_t touched_kb = resident_file_kb();
  files.value().release(tensor);
  EXPECT_LT(resident_file_kb(), touched_kb - kBytes / 1024 / 2);
  EXPECT_EQ(touch(), sum);
}

}  // namespace
}  // namespace plateau::train
