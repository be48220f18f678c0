// SPDX-License-Identifier: Apache-2.0
#include "trainer/quant/nf4.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <numeric>

#include "trainer/quant/test_numbers.h"

namespace plateau::train {
namespace {

using testing::Each;
using testing::ElementsAre;

// Half of the widest gap, between -1 and the next value.
constexpr float kWorstRounding = (1.0F - 0.6961928009986877F) / 2;

std::vector<float> back(const Nf4Weight& weight) {
  std::vector<float> out(static_cast<size_t>(weight.elements()));
  dequantise_nf4(weight, out);
  return out;
}

std::vector<float> normal_like(size_t count) {
  std::vector<float> values = test_numbers(count, 5);
  for (float& value : values) value *= 0.05F;
  return values;
}

TEST(Nf4, FirstWeightOfAPairIsInTheHighNibble) {
  const std::vector<float> weights{0.5F, -1.25F, 2.0F, 0.0F, -0.3F, 1.1F, -2.0F, 0.07F, 1.9F};
  const Nf4Weight weight = quantise_nf4(weights, {9}, false);
  EXPECT_THAT(weight.packed, ElementsAre(0xa1, 0xf7, 0x5d, 0x07, 0xf7));
  EXPECT_THAT(weight.absmax, ElementsAre(2.0F));
}

TEST(Nf4, EveryValueOfTheFormatComesBackExactly) {
  std::vector<float> weights;
  for (const float value : kNf4Values) weights.push_back(value * 3);
  EXPECT_EQ(back(quantise_nf4(weights, {4, 4}, false)), weights);
}

TEST(Nf4, ATieGoesToTheLowerIndex) {
  for (size_t i = 0; i + 1 < kNf4Values.size(); ++i) {
    const float middle = (kNf4Values[i] + kNf4Values[i + 1]) * 0.5F;
    const std::vector<float> weights{1.0F, middle, std::nextafter(middle, 2.0F)};
    const Nf4Weight weight = quantise_nf4(weights, {3}, false);
    EXPECT_EQ(weight.packed[0] & 15, i);
    EXPECT_EQ(weight.packed[1] >> 4, i + 1);
  }
}

// The next two are computed by testdata/quant_vectors.py, which searches by brute force.
TEST(Nf4, MatchesTheDefinitionToTheBit) {
  const std::vector<float> weights = test_numbers(64 * 300 + 37, 7);
  const Nf4Weight weight = quantise_nf4(weights, {19237}, false);
  EXPECT_EQ(weight.packed.size(), 9619U);
  EXPECT_EQ(fingerprint(weight.packed), 0x45dd226b35f9b680ULL);
  EXPECT_EQ(weight.absmax.size(), 301U);
  EXPECT_EQ(fingerprint(weight.absmax), 0x76061d8f6559ded7ULL);
  EXPECT_EQ(fingerprint(back(weight)), 0x94e7fe63c66207c4ULL);
}

TEST(Nf4, DoubleQuantisationMatchesTheDefinitionToTheBit) {
  const std::vector<float> weights = test_numbers(64 * 300 + 37, 7);
  const Nf4Weight weight = quantise_nf4(weights, {19237}, true);
  EXPECT_TRUE(weight.absmax.empty());
  EXPECT_EQ(weight.nested_offset, 0.7904283404350281F);
  EXPECT_EQ(fingerprint(weight.nested_codes), 0xa4ea67cc5f229f64ULL);
  EXPECT_THAT(weight.nested_absmax, ElementsAre(0.27587491273880005F, 0.2567659616470337F));
  EXPECT_EQ(fingerprint(back(weight)), 0x474f859c66f34bf4ULL);
}

TEST(Nf4, ErrorIsAtMostHalfTheWidestGap) {
  rc::check([] {
    const auto count = *rc::gen::inRange<size_t>(1, 400);
    const auto magnitude = *rc::gen::inRange(-40, 30);
    std::vector<float> weights = test_numbers(count, *rc::gen::arbitrary<uint64_t>());
    for (float& weight : weights) weight = std::ldexp(weight, magnitude);
    const bool twice = *rc::gen::arbitrary<bool>();
    const Nf4Weight weight = quantise_nf4(weights, {static_cast<int64_t>(count)}, twice);
    const Nf4Weight exact = quantise_nf4(weights, {static_cast<int64_t>(count)}, false);
    const std::vector<float> again = back(weight);
    for (size_t i = 0; i < count; ++i) {
      const auto block = static_cast<int64_t>(i) / kNf4Block;
      const float absmax = nf4_scale(exact, block);
      const float rescaled = std::fabs(nf4_scale(weight, block) - absmax);
      const float bound = (kWorstRounding * absmax + rescaled) * 1.00001F;
      RC_ASSERT(std::fabs(again[i] - weights[i]) <= bound);
    }
  });
}

TEST(Nf4, QuantisingWhatCameBackChangesNothing) {
  const std::vector<float> weights = test_numbers(64 * 20, 9);
  const Nf4Weight once = quantise_nf4(weights, {20, 64}, false);
  const Nf4Weight twice = quantise_nf4(back(once), {20, 64}, false);
  EXPECT_EQ(once.packed, twice.packed);
  EXPECT_EQ(once.absmax, twice.absmax);
}

TEST(Nf4, ZeroBlocksStayZeroWithDoubleQuantisationToo) {
  std::vector<float> weights(64 * 3, 0.0F);
  weights[0] = 4;
  weights[130] = -0.3F;
  const std::vector<float> again = back(quantise_nf4(weights, {3, 64}, true));
  EXPECT_THAT(std::vector<float>(again.begin() + 64, again.begin() + 128), Each(0.0F));
}

TEST(Nf4, DenormalBlocksKeepTheirOrder) {
  const float least = std::numeric_limits<float>::denorm_min();
  const std::vector<float> weights{4 * least, -4 * least, 0.0F};
  EXPECT_EQ(back(quantise_nf4(weights, {3}, false)), weights);
}

TEST(Nf4, RowsAloneEqualTheWholeWhateverTheyBeginIn) {
  for (const int64_t columns : {1, 2, 63, 64, 65, 192, 333}) {
    const int64_t rows = 9;
    const std::vector<float> weights = normal_like(static_cast<size_t>(rows * columns));
    const Nf4Weight weight = quantise_nf4(weights, {rows, columns}, true);
    const std::vector<float> whole = back(weight);
    for (int64_t first = 0; first <= rows; ++first) {
      for (int64_t last = first; last <= rows; ++last) {
        std::vector<float> part(static_cast<size_t>((last - first) * columns), 9.0F);
        dequantise_nf4_rows(weight, first, last, part);
        const std::vector<float> expected(whole.begin() + first * columns,
                                          whole.begin() + last * columns);
        ASSERT_EQ(part, expected) << columns << " columns, rows " << first << " to " << last;
      }
    }
  }
}

TEST(Nf4, BitsPerWeightAreThoseOfTheFormat) {
  const std::vector<float> weights = normal_like(size_t{64} * 256 * 16);
  const auto bits = [&](bool twice) {
    return static_cast<double>(quantise_nf4(weights, {256 * 16, 64}, twice).bytes()) * 8 /
           static_cast<double>(weights.size());
  };
  EXPECT_NEAR(bits(false), 4.5, 0.001);
  EXPECT_NEAR(bits(true), 4.127, 0.001);
}

TEST(Nf4, AMapFromAFileReplacesTheUsualOne) {
  Nf4Weight weight = quantise_nf4(normal_like(640), {640}, true);
  const float usual = nf4_scale(weight, 3);
  weight.nested_map.assign(256, 0.0F);
  EXPECT_EQ(nf4_scale(weight, 3), weight.nested_offset);
  EXPECT_NE(usual, weight.nested_offset);
}

TEST(Nf4, StateIsTheJsonThatPythonWrites) {
  Nf4Weight weight;
  weight.shape = {4096, 11008};
  weight.absmax = {1};
  EXPECT_EQ(
      nf4_state_json(weight, "bfloat16"),
      R"({"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [4096, 11008]})");
  weight.absmax.clear();
  weight.nested_codes = {1};
  weight.nested_offset = 0.0437F;
  EXPECT_EQ(nf4_state_json(weight, "float16"),
            R"({"quant_type": "nf4", "blocksize": 64, "dtype": "float16", "shape": [4096, 11008], )"
            R"("nested_blocksize": 256, "nested_dtype": "float32", )"
            R"("nested_offset": 0.043699998408555984})");
}

// Python's repr(float(numpy.float32(x))) of each.
TEST(Nf4, OffsetsAreSpelledAsPythonSpellsThem) {
  Nf4Weight weight;
  weight.nested_codes = {1};
  const auto spelled = [&](float offset) {
    weight.nested_offset = offset;
    const std::string json = nf4_state_json(weight, "float32");
    const size_t begin = json.rfind(' ') + 1;
    return json.substr(begin, json.size() - 1 - begin);
  };
  EXPECT_EQ(spelled(0), "0.0");
  EXPECT_EQ(spelled(2), "2.0");
  EXPECT_EQ(spelled(0.0001F), "9.999999747378752e-05");
  EXPECT_EQ(spelled(0.00012207031F), "0.0001220703125");
  EXPECT_EQ(spelled(1e-6F), "9.999999974752427e-07");
  EXPECT_EQ(spelled(1e17F), "9.999999843067494e+16");
}

}  // namespace
}  // namespace plateau::train
