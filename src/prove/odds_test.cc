// SPDX-License-Identifier: Apache-2.0
#include "prove/odds.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace plateau {
namespace {

// Blocks of 12 in the order of `kinds`, with this growth per step in each.
std::vector<BatchBlock> blocks(std::string_view kinds, const std::vector<double>& mb_per_step) {
  std::vector<BatchBlock> made;
  for (size_t i = 0; i < kinds.size(); ++i) {
    BatchBlock block;
    block.kind = kinds[i];
    block.number = static_cast<int64_t>(i) + 1;
    block.steps = 10;
    block.mb_per_step = mb_per_step[i];
    made.push_back(block);
  }
  return made;
}

Proved word(std::string_view kinds, const std::vector<double>& mb_per_step) {
  return proved_by(growth_odds(blocks(kinds, mb_per_step)), 0.99);
}

TEST(GrowthOdds, GrowthOnNewBatchesOnlyIsPerExample) {
  const GrowthOdds odds = growth_odds(blocks("NRNR", {2.79, 0.01, 2.76, 0.00}));
  EXPECT_EQ(proved_by(odds, 0.99), Proved::per_example);
  EXPECT_NEAR(odds.new_mb, 2.78, 0.1);
  EXPECT_EQ(odds.step_mb, 0);
}

TEST(GrowthOdds, GrowthOnRepeatedBatchesTooIsPerStep) {
  const GrowthOdds odds = growth_odds(blocks("NRNR", {0.53, 0.51, 0.53, 0.53}));
  EXPECT_EQ(proved_by(odds, 0.99), Proved::per_step);
  EXPECT_NEAR(odds.step_mb, 0.53, 0.03);
  EXPECT_EQ(odds.new_mb, 0);
}

TEST(GrowthOdds, NoGrowthIsLevel) {
  EXPECT_EQ(word("NRNR", {0.0, 0.0, 0.0, 0.0}), Proved::level);
  EXPECT_EQ(word("NRNR", {0.003, -0.002, 0.0, 0.001}), Proved::level);
}

TEST(GrowthOdds, ACacheBesideALeakIsPerStepAndNamesBothRates) {
  const GrowthOdds odds = growth_odds(blocks("NRNRNR", {2.5, 0.5, 2.52, 0.51, 2.49, 0.5}));
  EXPECT_EQ(proved_by(odds, 0.99), Proved::per_step);
  EXPECT_GT(odds.both, odds.step);
  EXPECT_NEAR(odds.step_mb, 0.5, 0.05);
  EXPECT_NEAR(odds.new_mb, 2.0, 0.2);
}

TEST(GrowthOdds, ASmallLeakBesideALargeUnevenCacheIsSeen) {
  const GrowthOdds odds = growth_odds(blocks("NRNRNR", {2.0, 0.1, 2.6, 0.1, 1.7, 0.1}));
  EXPECT_EQ(proved_by(odds, 0.7), Proved::per_step);
  EXPECT_NEAR(odds.step_mb, 0.1, 0.02);
}

TEST(GrowthOdds, AWarmUpThatFadesIsLevel) {
  EXPECT_EQ(word("NRNRNRNR", {1.0, 0.3, 0.1, 0.03, 0.01, 0.0, 0.0, 0.0}), Proved::level);
  EXPECT_NE(word("NRNR", {1.0, 0.3, 0.1, 0.03}), Proved::per_example);
}

TEST(GrowthOdds, OneHiccupDoesNotDecide) {
  EXPECT_NE(word("NRNR", {0.0, 0.6, 0.0, 0.0}), Proved::per_step);
  EXPECT_EQ(word("NRNRNRNR", {0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0}), Proved::level);
  EXPECT_EQ(word("NRNRNRNR", {0.2, 0.2, 0.2, 0.8, 0.2, 0.2, 0.21, 0.2}), Proved::per_step);
}

TEST(GrowthOdds, NoiseAsLargeAsTheGrowthStaysUndecided) {
  EXPECT_EQ(word("NRNR", {0.5, -0.4, -0.1, 0.6}), Proved::undecided);
}

TEST(GrowthOdds, OnePairIsNotEnoughForNinetyNine) {
  EXPECT_EQ(word("NR", {0.3, 0.1}), Proved::undecided);
}

TEST(GrowthOdds, WithoutNewBlocksAGrowthIsPerStepAndNoneIsLevel) {
  EXPECT_EQ(word("RRRR", {0.4, 0.41, 0.4, 0.4}), Proved::per_step);
  EXPECT_EQ(word("RRRR", {0.0, 0.0, 0.0, 0.001}), Proved::level);
}

TEST(GrowthOdds, ShrinkingIsNotGrowth) {
  const GrowthOdds odds = growth_odds(blocks("NRNRNR", {-0.5, -0.1, -0.3, 0.0, 0.0, -0.1}));
  EXPECT_EQ(proved_by(odds, 0.8), Proved::level);
}

TEST(GrowthOdds, SharesSumToOne) {
  const GrowthOdds odds = growth_odds(blocks("NRN", {0.7, 0.2, 0.1}));
  EXPECT_NEAR(odds.level + odds.example + odds.step + odds.both, 1, 1e-9);
  EXPECT_EQ(proved_by(growth_odds({}), 0.9), Proved::undecided);
}

}  // namespace
}  // namespace plateau
