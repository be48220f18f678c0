// SPDX-License-Identifier: Apache-2.0
#include "page/thinning.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace plateau {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

std::vector<double> counting(size_t count) {
  std::vector<double> clock(count);
  for (size_t i = 0; i < count; ++i) clock[i] = static_cast<double>(i);
  return clock;
}

// Any run of values, every fifth or so missing.
std::vector<double> any_values(size_t count) {
  std::vector<double> values(count);
  for (double& value : values) {
    const int drawn = *rc::gen::inRange(0, 1000);
    value = drawn < 200 ? kNothing : static_cast<double>(drawn) / 7;
  }
  return values;
}

TEST(Thinning, DrawsEverySampleOfAShortRun) {
  const std::vector<double> values = {3, kNothing, 1};
  const Thinning thinning(counting(3), 4);
  EXPECT_FALSE(thinning.thins());
  EXPECT_EQ(thinning.rows(), 3U);
  const std::vector<double> drawn = thinning.line(values);
  EXPECT_EQ(drawn[0], 3);
  EXPECT_TRUE(std::isnan(drawn[1]));
  EXPECT_EQ(drawn[2], 1);
}

TEST(Thinning, KeepsOnePeakOfAMillionSamples) {
  std::vector<double> values(1000000, 50);
  values[123456] = 320;
  values[900001] = 2;
  const Thinning thinning(counting(values.size()), 4000);
  EXPECT_EQ(thinning.rows(), 4000U);
  const std::vector<double> drawn = thinning.line(values);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 320), 1);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 2), 1);
}

TEST(Thinning, KeepsTheOrderWithinAStretch) {
  const std::vector<double> falling = {9, 8, 7, 6, 5, 4};
  const std::vector<double> rising = {4, 5, 6, 7, 8, 9};
  const Thinning thinning(counting(6), 2);
  EXPECT_EQ(thinning.line(falling), (std::vector<double>{9, 4}));
  EXPECT_EQ(thinning.line(rising), (std::vector<double>{4, 9}));
  EXPECT_EQ(thinning.place(counting(6)), (std::vector<double>{0, 5}));
}

TEST(Thinning, LeavesAGapWhereAStretchHasNoValue) {
  std::vector<double> values(12, 1);
  for (size_t i = 4; i < 8; ++i) values[i] = kNothing;
  const std::vector<double> drawn = Thinning(counting(12), 6).line(values);
  ASSERT_EQ(drawn.size(), 6U);
  EXPECT_TRUE(std::isnan(drawn[2]) && std::isnan(drawn[3]));
  EXPECT_EQ(drawn[1], 1);
  EXPECT_EQ(drawn[4], 1);
}

TEST(Thinning, DrawsByRisingClockWhateverTheOrderOfTheLog) {
  const std::vector<double> clock = {3, 1, 2};
  const Thinning thinning(clock, 8);
  EXPECT_EQ(thinning.place(clock), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(thinning.line(std::vector<double>{30, 10, 20}), (std::vector<double>{10, 20, 30}));
}

TEST(Thinning, CopesWithNoSamples) {
  const Thinning thinning(std::vector<double>{}, 4000);
  EXPECT_EQ(thinning.rows(), 0U);
  EXPECT_TRUE(thinning.line(std::vector<double>{}).empty());
}

RC_GTEST_PROP(Thinning, KeepsExtremesAndInventsNothing, ()) {
  const auto count = *rc::gen::inRange<size_t>(1, 300);
  const auto most = *rc::gen::inRange<size_t>(2, 80);
  const std::vector<double> values = any_values(count);
  const Thinning thinning(counting(count), most);
  const std::vector<double> drawn = thinning.line(values);
  RC_ASSERT(drawn.size() == thinning.rows());
  RC_ASSERT(thinning.rows() <= most);
  double low = kNothing, high = kNothing, drawn_low = kNothing, drawn_high = kNothing;
  for (const double value : values) {
    low = std::fmin(low, value);
    high = std::fmax(high, value);
  }
  for (const double value : drawn) {
    if (std::isnan(value)) continue;
    RC_ASSERT(std::find(values.begin(), values.end(), value) != values.end());
    drawn_low = std::fmin(drawn_low, value);
    drawn_high = std::fmax(drawn_high, value);
  }
  RC_ASSERT((std::isnan(low) ? std::isnan(drawn_low) : drawn_low == low));
  RC_ASSERT((std::isnan(high) ? std::isnan(drawn_high) : drawn_high == high));
}

// What stands in the two rows of a stretch is what its own samples say, gaps too.
RC_GTEST_PROP(Thinning, EveryStretchShowsItsOwnLowestAndHighest, ()) {
  const auto count = *rc::gen::inRange<size_t>(20, 300);
  const std::vector<double> values = any_values(count);
  const std::vector<double> clock = counting(count);
  const Thinning thinning(clock, 10);
  const std::vector<double> at = thinning.place(clock);
  const std::vector<double> drawn = thinning.line(values);
  for (size_t row = 0; row < drawn.size(); row += 2) {
    double low = kNothing, high = kNothing;
    for (auto i = static_cast<size_t>(at[row]); i <= static_cast<size_t>(at[row + 1]); ++i) {
      low = std::fmin(low, values[i]);
      high = std::fmax(high, values[i]);
    }
    RC_ASSERT(std::isnan(low) == std::isnan(drawn[row]));
    RC_ASSERT(std::isnan(low) == std::isnan(drawn[row + 1]));
    if (std::isnan(low)) continue;
    RC_ASSERT(std::min(drawn[row], drawn[row + 1]) == low);
    RC_ASSERT(std::max(drawn[row], drawn[row + 1]) == high);
  }
}

}  // namespace
}  // namespace plateau
