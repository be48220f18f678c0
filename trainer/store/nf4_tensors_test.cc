// SPDX-License-Identifier: Apache-2.0
#include "trainer/store/nf4_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "trainer/quant/blockwise8.h"
#include "trainer/quant/test_numbers.h"
#include "trainer/store/test_files.h"

namespace plateau::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Writes the tensors as a model directory and opens it.
WeightFiles stored(const ScratchDirectory& directory, const std::vector<TensorView>& views) {
  const auto path = directory.path() / "model.safetensors";
  EXPECT_TRUE(write_safetensors(path, views, {{"format", "pt"}}).ok());
  Result<WeightFiles> files = WeightFiles::open(directory.path());
  EXPECT_TRUE(files.ok());
  return std::move(files.value());
}

TEST(Nf4Tensors, RoundTripToTheBit) {
  rc::check([] {
    const ScratchDirectory directory;
    const auto rows = *rc::gen::inRange<int64_t>(1, 40);
    const auto columns = *rc::gen::inRange<int64_t>(1, 200);
    const bool twice = *rc::gen::arbitrary<bool>();
    const std::vector<float> weights =
        test_numbers(static_cast<size_t>(rows * columns), *rc::gen::arbitrary<uint64_t>());
    const Nf4Weight weight = quantise_nf4(weights, {rows, columns}, twice);
    const Nf4Tensors tensors = nf4_tensors(weight, "a.weight", "bfloat16");
    const WeightFiles files = stored(directory, tensors.views);
    RC_ASSERT(is_nf4(files, "a.weight"));
    const Result<Nf4Weight> read = read_nf4(files, "a.weight");
    RC_ASSERT(read.ok());
    RC_ASSERT(read.value().shape == weight.shape);
    RC_ASSERT(read.value().packed == weight.packed);
    RC_ASSERT(read.value().absmax == weight.absmax);
    RC_ASSERT(read.value().nested_codes == weight.nested_codes);
    RC_ASSERT(read.value().nested_absmax == weight.nested_absmax);
    RC_ASSERT(read.value().nested_offset == weight.nested_offset);
    RC_ASSERT(read.value().nested_map.empty());
    // And written again: the same bytes.
    const Nf4Tensors again = nf4_tensors(read.value(), "a.weight", "bfloat16");
    RC_ASSERT(again.state == tensors.state);
  });
}

TEST(Nf4Tensors, NamesTypesAndShapesAreThoseOfBitsandbytes) {
  const std::vector<float> weights = test_numbers(640, 1);
  const auto described = [&](bool twice) {
    std::vector<std::string> lines;
    const Nf4Weight weight = quantise_nf4(weights, {10, 64}, twice);
    for (const TensorView& view : nf4_tensors(weight, "a.weight", "float16").views) {
      std::string line = view.name + " " + std::string(name_of(view.dtype));
      for (const int64_t size : view.shape) line += " " + std::to_string(size);
      lines.push_back(line);
    }
    return lines;
  };
  EXPECT_THAT(described(false), ElementsAre("a.weight U8 320 1", "a.weight.absmax F32 10",
                                            "a.weight.quant_map F32 16",
                                            "a.weight.quant_state.bitsandbytes__nf4 U8 77"));
  EXPECT_THAT(described(true),
              ElementsAre("a.weight U8 320 1", "a.weight.absmax U8 10", "a.weight.quant_map F32 16",
                          "a.weight.nested_absmax F32 1", "a.weight.nested_quant_map F32 256",
                          testing::StartsWith("a.weight.quant_state.bitsandbytes__nf4 U8 1")));
}

TEST(Nf4Tensors, BelongToTheirWeight) {
  EXPECT_EQ(nf4_owner("a.weight.absmax"), "a.weight");
  EXPECT_EQ(nf4_owner("a.weight.nested_absmax"), "a.weight");
  EXPECT_EQ(nf4_owner("a.weight.quant_map"), "a.weight");
  EXPECT_EQ(nf4_owner("a.weight.nested_quant_map"), "a.weight");
  EXPECT_EQ(nf4_owner("a.weight.quant_state.bitsandbytes__nf4"), "a.weight");
  EXPECT_EQ(nf4_owner("a.weight"), "");
}

// A set of stored tensors in which one is exchanged.
class Nf4Exchange : public testing::Test {
 protected:
  std::string error_with(const std::string& name, const TensorView& other) {
    std::vector<TensorView> views = tensors_.views;
    for (TensorView& view : views) {
      if (view.name == name) view = other;
    }
    const Result<Nf4Weight> read = read_nf4(stored(directory_, views), "a.weight");
    return read.ok() ? "" : read.error().message;
  }
  std::string error_with_state(std::string_view json) {
    const TensorView other{.name = std::string(kStateName),
                           .dtype = DType::u8,
                           .shape = {static_cast<int64_t>(json.size())},
                           .bytes = bytes_of_text(json)};
    return error_with(std::string(kStateName), other);
  }

  static constexpr std::string_view kStateName = "a.weight.quant_state.bitsandbytes__nf4";
  ScratchDirectory directory_;
  Nf4Weight weight_ = quantise_nf4(test_numbers(640, 1), {10, 64}, true);
  Nf4Tensors tensors_ = nf4_tensors(weight_, "a.weight", "bfloat16");
};

TEST_F(Nf4Exchange, ShapesThatDoNotFitTheBytesAreErrors) {
  EXPECT_THAT(error_with_state(R"({"quant_type":"nf4","blocksize":64,"shape":[10,65],)"
                               R"("nested_blocksize":256,"nested_offset":0.5})"),
              HasSubstr("\"a.weight\" has 320 values of U8, expected 325 of U8"));
  EXPECT_THAT(error_with_state(R"({"quant_type":"nf4","blocksize":64,"shape":[10,64]})"),
              HasSubstr("\"a.weight.absmax\" has 10 values of U8, expected 10 of F32"));
  EXPECT_THAT(error_with_state(R"({"quant_type":"nf4","blocksize":64,)"
                               R"("shape":[4294967296,4294967296]})"),
              HasSubstr("shape that cannot be"));
  EXPECT_THAT(error_with_state(R"({"quant_type":"nf4","blocksize":64,"shape":[]})"),
              HasSubstr("no shape"));
}

TEST_F(Nf4Exchange, OtherFormatsAreNotMistakenForNf4) {
  EXPECT_THAT(error_with_state(R"({"quant_type":"fp4","blocksize":64,"shape":[10,64]})"),
              HasSubstr("supported is only quant_type nf4"));
  EXPECT_THAT(error_with_state(R"({"quant_type":"nf4","blocksize":128,"shape":[10,64]})"),
              HasSubstr("blocksize 64"));
  EXPECT_THAT(error_with_state(R"({"quant_type":"nf4","blocksize":64,"shape":[10,64],)"
                               R"("nested_blocksize":128,"nested_offset":0.5})"),
              HasSubstr("nested_blocksize of 256"));
  EXPECT_THAT(error_with_state("nf4"), HasSubstr("not a JSON object"));
  std::vector<float> values(kNf4Values.begin(), kNf4Values.end());
  values[3] = -0.4F;
  EXPECT_THAT(
      error_with("a.weight.quant_map", test_tensor("a.weight.quant_map", DType::f32, {16}, values)),
      HasSubstr("\"a.weight.quant_map\"[3] is -0.4"));
}

// torch computes the map in single precision, in an order that depends on the machine.
TEST_F(Nf4Exchange, AMapWithOtherLastBitsIsKept) {
  std::vector<float> values(dynamic_map(true).begin(), dynamic_map(true).end());
  values[200] = std::nextafter(values[200], 1.0F);
  const std::string name = "a.weight.nested_quant_map";
  EXPECT_EQ(error_with(name, test_tensor(name, DType::f32, {256}, values)), "");
  const Result<WeightFiles> files = WeightFiles::open(directory_.path());
  const Result<Nf4Weight> read = read_nf4(files.value(), "a.weight");
  EXPECT_EQ(read.value().nested_map, values);
  EXPECT_EQ(nf4_tensors(read.value(), "a.weight", "bfloat16").views[4].bytes.size(), 1024U);

  values[200] *= 1.01F;
  EXPECT_THAT(error_with(name, test_tensor(name, DType::f32, {256}, values)),
              HasSubstr("\"a.weight.nested_quant_map\"[200]"));
  values[200] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error_with(name, test_tensor(name, DType::f32, {256}, values)), HasSubstr("[200]"));
}

}  // namespace
}  // namespace plateau::train
