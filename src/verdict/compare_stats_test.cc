// SPDX-License-Identifier: Apache-2.0
#include "verdict/compare_stats.h"

#include <gtest/gtest.h>

#include <cmath>

#include "verdict/test_runs.h"

namespace plateau {
namespace {

TEST(ContrastBlocks, WorkedCaseOfTheHeader) {
  const std::vector<double> a(8, 100.0);
  const std::vector<double> b = {103, 99, 102, 100, 101, 98, 102, 99};

  const std::optional<Contrast> contrast = contrast_blocks(a, b, false);

  ASSERT_TRUE(contrast);
  EXPECT_NEAR(contrast->difference, 0.5, 1e-9);
  EXPECT_NEAR(contrast->range.high - 0.5, 2.2, 0.1);
  EXPECT_FALSE(contrast->excludes_zero());
}

TEST(ContrastBlocks, CorrelatedDifferencesWidenTheInterval) {
  const std::vector<double> a(8, 100.0);
  const std::vector<double> mixed = {103, 101, 104, 102, 103, 101, 104, 102};
  const std::vector<double> sorted = {101, 101, 102, 102, 103, 103, 104, 104};

  const double narrow = contrast_blocks(a, mixed, false)->range.high;
  const double wide = contrast_blocks(a, sorted, false)->range.high;

  EXPECT_GT(wide, 2 * narrow);
}

TEST(ContrastBlocks, KnownTrendIsNoNoise) {
  std::vector<double> flat(10, 0.0);
  std::vector<double> climbing;
  for (int i = 0; i < 10; ++i) climbing.push_back(100.0 * i + (i % 2));

  EXPECT_FALSE(contrast_blocks(flat, climbing, false)->excludes_zero());
  EXPECT_TRUE(contrast_blocks(flat, climbing, true)->excludes_zero());
}

TEST(ContrastBlocks, MissingStretchesAreLeftOutAndFiveAreTooFew) {
  const std::vector<double> a = {1, 1, 1, 1, 1, 1};
  const std::vector<double> b = {2, kMissing, 2, 2, 2, 2};

  EXPECT_FALSE(contrast_blocks(a, b, false));
}

TEST(BlockValues, NoStretchesHoldNothing) {
  const std::vector<TimedValue> points = {{1, 10}, {2, 20}};

  EXPECT_TRUE(block_values(points, 0, 3, 0, BlockValue::maximum).empty());
  EXPECT_EQ(block_values(points, 1, 2, 2, BlockValue::maximum), (std::vector<double>{10, 20}));
}

TEST(ContrastRises, NoiseAboutALevelIsNoRiseAndAClimbIs) {
  Noise noise(3);
  std::vector<double> a, b, climbing;
  for (int i = 0; i < 16; ++i) {
    a.push_back(noise());
    b.push_back(noise());
    climbing.push_back(10.0 * i + noise());
  }

  EXPECT_FALSE(contrast_rises(a, b)->excludes_zero());
  EXPECT_TRUE(contrast_rises(a, climbing)->excludes_zero());
}

TEST(ContrastSettledRises, AClimbThatHasEndedIsNoNoise) {
  const std::vector<double> first = {5000, 5000};
  std::vector<double> high, low;
  for (int i = 0; i < 8; ++i) high.push_back(17000 + i % 2), low.push_back(5000 + i % 3);

  const std::optional<Contrast> contrast = contrast_settled_rises(first, high, low);

  ASSERT_TRUE(contrast);
  EXPECT_NEAR(contrast->difference, -12000, 2);
  EXPECT_TRUE(contrast->excludes_zero());
}

TEST(ContrastRates, DistancesToTheEndsAddInSquares) {
  const Contrast contrast = contrast_rates(10, {7, 13}, 20, {16, 24});

  EXPECT_EQ(contrast.difference, 10);
  EXPECT_NEAR(contrast.range.low, 10 - 5 * 2.5758 / 1.6449, 1e-3);
  EXPECT_TRUE(contrast.excludes_zero());
}

TEST(ContrastRanks, FourAgainstFourAreTooFewAndTenAgainstTenWillDo) {
  const std::vector<double> low4 = {1, 2, 3, 4}, high4 = {11, 12, 13, 14};
  std::vector<double> low, high;
  for (int i = 0; i < 10; ++i) low.push_back(i), high.push_back(100 + i);

  EXPECT_FALSE(contrast_ranks(low4, high4));
  EXPECT_TRUE(contrast_ranks(low, high)->excludes_zero());
  EXPECT_NEAR(contrast_ranks(low, high)->difference, 100, 1e-9);
}

TEST(CountRatio, TenAgainstNoneExcludesOneAndFiveAgainstSixDoesNot) {
  EXPECT_LT(count_ratio_range(10, 0)->high, 1);
  const Interval close = *count_ratio_range(5, 6);
  EXPECT_LT(close.low, 1);
  EXPECT_GT(close.high, 1);
  EXPECT_FALSE(count_ratio_range(2, 3));
}

TEST(ContrastRuns, OneRunBorrowsTheOtherSidesVariance) {
  const std::vector<double> one = {20}, several = {10, 11, 9}, alone = {10};

  const std::optional<Contrast> contrast = contrast_runs(several, one);

  ASSERT_TRUE(contrast);
  EXPECT_NEAR(contrast->difference, 10, 1e-9);
  EXPECT_NEAR(contrast->range.high - 10, 9.925 * std::sqrt(1 + 1.0 / 3), 1e-3);
  EXPECT_FALSE(contrast_runs(alone, one));
}

TEST(StepPace, EvaluationsAndStallsDoNotCount) {
  plateau::Run run;
  double time = 0;
  for (int64_t step = 0; step <= 100; ++step) {
    run.instants.push_back({.step = step, .time_s = time});
    run.instants.push_back({.step = step, .time_s = time + 0.1});  // Seen again, same step.
    time += step % 10 == 0 ? 30 : 0.5;
  }

  const std::optional<StepPace> pace = step_pace(step_intervals(run), 0, 100);

  ASSERT_TRUE(pace);
  EXPECT_NEAR(pace->seconds, 0.5, 1e-9);
  EXPECT_EQ(pace->intervals, 100U);
}

TEST(StepPace, AClockOfWholeSecondsDoesNotHideThreePerCent) {
  const auto pace_at = [](double seconds) {
    plateau::Run run;
    for (int64_t step = 0; step <= 2000; step += 10) {
      run.instants.push_back(
          {.step = step, .time_s = std::floor(static_cast<double>(step) * seconds)});
    }
    return step_pace(step_intervals(run), 0, 2000)->seconds;
  };

  EXPECT_NEAR(pace_at(0.515) / pace_at(0.5), 1.03, 0.015);
}

TEST(StepPace, TimeThatGoesBackIsLeftOut) {
  plateau::Run run;
  run.instants = {
      {.step = 1, .time_s = 10.5}, {.step = 2, .time_s = 3.5}, {.step = 3, .time_s = 4.5}};

  const std::vector<StepInterval> intervals = step_intervals(run);

  ASSERT_EQ(intervals.size(), 1U);
  EXPECT_EQ(intervals.front().seconds, 1);
}

}  // namespace
}  // namespace plateau
