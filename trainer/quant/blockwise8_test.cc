// SPDX-License-Identifier: Apache-2.0
#include "trainer/quant/blockwise8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "trainer/quant/test_numbers.h"

namespace plateau::train {
namespace {

using testing::Each;
using testing::ElementsAre;

std::vector<float> back(const Blockwise8& state) {
  std::vector<float> out(state.codes.size());
  dequantise_blockwise(state, out);
  return out;
}

Blockwise8 nothing_yet(size_t count, bool is_signed) {
  return quantise_blockwise(std::vector<float>(count, 0.0F), is_signed);
}

TEST(DynamicMap, HasTheKnownEndsAndZero) {
  const auto& with_sign = dynamic_map(true);
  EXPECT_EQ(with_sign[0], -0.99296874F);
  EXPECT_EQ(with_sign[127], 0.0F);
  EXPECT_EQ(with_sign[128], 5.5e-7F);
  EXPECT_EQ(with_sign[255], 1.0F);
  const auto& without = dynamic_map(false);
  EXPECT_EQ(without[0], 0.0F);
  EXPECT_EQ(without[1], 3.25e-7F);
  EXPECT_EQ(without[254], 0.9964844F);
  EXPECT_EQ(without[255], 1.0F);
}

TEST(DynamicMap, IsStrictlyAscendingSo256Distinct) {
  for (const bool is_signed : {true, false}) {
    const auto& map = dynamic_map(is_signed);
    EXPECT_EQ(std::adjacent_find(map.begin(), map.end(), std::greater_equal<>()), map.end());
  }
}

// Fingerprints here and below come from testdata/quant_vectors.py.
TEST(DynamicMap, MatchesTheDefinitionToTheBit) {
  EXPECT_EQ(fingerprint(dynamic_map(true)), 0x1e28a45b2a45b220ULL);
  EXPECT_EQ(fingerprint(dynamic_map(false)), 0x5578dd4560cc7b77ULL);
}

TEST(Blockwise8, MatchesTheDefinitionToTheBit) {
  std::vector<float> values = test_numbers(1000, 11);
  const Blockwise8 with_sign = quantise_blockwise(values, true);
  EXPECT_EQ(fingerprint(with_sign.codes), 0xcac21c5d5936887cULL);
  EXPECT_THAT(with_sign.absmax, ElementsAre(0.8881255388259888F, 0.9388699531555176F,
                                            0.9105178117752075F, 0.9179263114929199F));
  for (float& value : values) value = std::fabs(value);
  EXPECT_EQ(fingerprint(quantise_blockwise(values, false).codes), 0x3e2fa82ed130628eULL);
}

// Against a search through all 256 values, for magnitudes of every decade.
TEST(Blockwise8, StoresTheNearestValueOfTheMap) {
  rc::check([] {
    const bool is_signed = *rc::gen::arbitrary<bool>();
    std::vector<float> values = test_numbers(256, *rc::gen::arbitrary<uint64_t>());
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] =
          std::ldexp(is_signed ? values[i] : std::fabs(values[i]), -static_cast<int>(i % 26));
    }
    values[0] = 1;
    const Blockwise8 state = quantise_blockwise(values, is_signed);
    const auto& map = dynamic_map(is_signed);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto distance = [&](size_t code) { return std::fabs(double{map[code]} - values[i]); };
      double nearest = 2;
      for (size_t code = 0; code < map.size(); ++code) nearest = std::min(nearest, distance(code));
      RC_ASSERT(distance(state.codes[i]) <= nearest * (1 + 1e-6) + 1e-12);
    }
  });
}

TEST(Blockwise8, EveryValueOfTheMapComesBackAsItself) {
  for (const bool is_signed : {true, false}) {
    const auto& map = dynamic_map(is_signed);
    const Blockwise8 state = quantise_blockwise(map, is_signed);
    for (size_t code = 0; code < map.size(); ++code) EXPECT_EQ(state.codes[code], code);
    EXPECT_THAT(back(state), testing::ElementsAreArray(map));
  }
}

TEST(Blockwise8, ATieGoesToTheLowerCode) {
  for (const bool is_signed : {true, false}) {
    const auto& map = dynamic_map(is_signed);
    for (size_t code = 0; code + 1 < map.size(); ++code) {
      const float middle = (map[code] + map[code + 1]) * 0.5F;
      const std::vector<float> values{1.0F, middle, std::nextafter(middle, 2.0F)};
      const Blockwise8 state = quantise_blockwise(values, is_signed);
      EXPECT_EQ(state.codes[1], code);
      EXPECT_EQ(state.codes[2], code + 1);
    }
  }
}

TEST(Blockwise8, BlocksDoNotDisturbEachOther) {
  std::vector<float> values = test_numbers(600, 4);
  const Blockwise8 before = quantise_blockwise(values, true);
  values[300] = 1000;
  const Blockwise8 after = quantise_blockwise(values, true);
  EXPECT_TRUE(std::equal(before.codes.begin(), before.codes.begin() + 256, after.codes.begin()));
  EXPECT_TRUE(
      std::equal(before.codes.begin() + 512, before.codes.end(), after.codes.begin() + 512));
  EXPECT_EQ(after.absmax[1], 1000.0F);
  EXPECT_EQ(after.absmax.size(), 3U);
}

TEST(Blockwise8, ZerosAreZeros) {
  const Blockwise8 with_sign = nothing_yet(300, true);
  EXPECT_THAT(with_sign.codes, Each(127));
  EXPECT_THAT(with_sign.absmax, ElementsAre(0.0F, 0.0F));
  EXPECT_THAT(back(with_sign), Each(0.0F));
  EXPECT_THAT(nothing_yet(300, false).codes, Each(0));
}

TEST(Blockwise8, DenormalsDoNotBecomeNotANumber) {
  const float least = std::numeric_limits<float>::denorm_min();
  const std::vector<float> values{least, -least, 0.0F};
  const Blockwise8 state = quantise_blockwise(values, true);
  EXPECT_EQ(state.codes[0], 255);
  EXPECT_EQ(state.codes[1], 0);
  EXPECT_EQ(state.codes[2], 127);
}

// Three steps by the script, with gradients that are not finite in the second.
TEST(AdamW8Bit, ThreeStepsMatchTheDefinitionToTheBit) {
  std::vector<float> weights = test_numbers(600, 3);
  Blockwise8 first = nothing_yet(600, true);
  Blockwise8 second = nothing_yet(600, false);
  Adam8Step settings{.learning_rate = 1e-2, .weight_decay = 0.1};
  for (settings.step = 1; settings.step <= 3; ++settings.step) {
    std::vector<float> gradients = test_numbers(600, 100 + static_cast<uint64_t>(settings.step));
    if (settings.step == 2) {
      gradients[5] = std::numeric_limits<float>::quiet_NaN();
      gradients[300] = std::numeric_limits<float>::infinity();
    }
    adamw_8bit_step(weights, gradients, first, second, settings);
  }
  EXPECT_EQ(weights[0], -0.08218700438737869F);
  EXPECT_EQ(fingerprint(weights), 0x3f765ab70cc1cbd6ULL);
  EXPECT_EQ(fingerprint(first.codes), 0xd863399933f81ce5ULL);
  EXPECT_EQ(fingerprint(second.codes), 0x2f8a907284000e99ULL);
  EXPECT_THAT(first.absmax,
              ElementsAre(0.14966490864753723F, 0.1402294784784317F, 0.08893905580043793F));
}

TEST(AdamW8Bit, AGradientThatIsNotFiniteLeavesWeightAndZeroesState) {
  std::vector<float> weights{1, 2, 3};
  Blockwise8 first = quantise_blockwise(std::vector<float>{0.5F, 0.5F, 0.5F}, true);
  Blockwise8 second = quantise_blockwise(std::vector<float>{0.5F, 0.5F, 0.5F}, false);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  adamw_8bit_step(weights, std::vector<float>{nan, -infinity, 1}, first, second,
                  {.learning_rate = 0.1, .weight_decay = 0.5, .step = 10});
  EXPECT_EQ(weights[0], 1);
  EXPECT_EQ(weights[1], 2);
  EXPECT_LT(weights[2], 3);
  EXPECT_EQ(back(first)[0], 0);
  EXPECT_EQ(back(second)[1], 0);
  EXPECT_GT(back(first)[2], 0);
}

TEST(AdamW8Bit, WeightDecayComesAfterTheUpdate) {
  // The first step of Adam moves by the learning rate, whatever the gradient is.
  std::vector<float> weights{2};
  Blockwise8 first = nothing_yet(1, true);
  Blockwise8 second = nothing_yet(1, false);
  adamw_8bit_step(weights, std::vector<float>{0.25F}, first, second,
                  {.learning_rate = 0.5, .weight_decay = 0.5, .step = 1});
  EXPECT_NEAR(weights[0], (2 - 0.5) * 0.75, 1e-5);  // Before: 2 * 0.75 - 0.5 = 1.0.
}

TEST(AdamW8Bit, ASmallNegativeMomentKeepsItsSign) {
  std::vector<float> weights{0, 0, 0};
  Blockwise8 first = nothing_yet(3, true);
  Blockwise8 second = nothing_yet(3, false);
  adamw_8bit_step(weights, std::vector<float>{1, -1e-8F, 1e-8F}, first, second,
                  {.learning_rate = 0.1, .step = 1});
  EXPECT_THAT(first.codes, ElementsAre(255, 126, 127));
}

// What the 8 bits are for: as good as 32 bits on an easy bowl, up to rounding of the states.
TEST(AdamW8Bit, FindsTheBottomOfABowl) {
  const std::vector<float> goal = test_numbers(kMin8BitElements, 21);
  std::vector<float> weights(goal.size(), 0.0F);
  std::vector<float> gradients(goal.size());
  Blockwise8 first = nothing_yet(goal.size(), true);
  Blockwise8 second = nothing_yet(goal.size(), false);
  Adam8Step settings{.learning_rate = 0.02};
  for (settings.step = 1; settings.step <= 300; ++settings.step) {
    for (size_t i = 0; i < goal.size(); ++i) gradients[i] = weights[i] - goal[i];
    settings.learning_rate = 0.02 * (1 - static_cast<double>(settings.step - 1) / 300);
    adamw_8bit_step(weights, gradients, first, second, settings);
  }
  double worst = 0;
  for (size_t i = 0; i < goal.size(); ++i) {
    worst = std::max(worst, static_cast<double>(std::fabs(weights[i] - goal[i])));
  }
  EXPECT_LT(worst, 0.02);
}

}  // namespace
}  // namespace plateau::train
