// SPDX-License-Identifier: Apache-2.0
#include "base/thinning.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <memory>

namespace plateau {
namespace {

TEST(KeepEverySecond, FirstStaysAndMovableOnlyIsEnough) {
  std::vector<int> odd = {0, 1, 2, 3, 4};
  std::vector<int> even = {0, 1, 2, 3};
  std::vector<int> none;
  keep_every_second(odd);
  keep_every_second(even);
  keep_every_second(none);
  EXPECT_EQ(odd, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(even, (std::vector<int>{0, 2}));
  EXPECT_TRUE(none.empty());

  std::vector<std::unique_ptr<int>> owned;
  for (int i = 0; i < 3; ++i) owned.push_back(std::make_unique<int>(i));
  keep_every_second(owned);
  ASSERT_EQ(owned.size(), 2U);
  EXPECT_EQ(*owned[1], 2);
}

RC_GTEST_PROP(Stretches, EveryPointIsInExactlyOne, ()) {
  const auto stretches = *rc::gen::inRange<size_t>(1, 50);
  const auto count = *rc::gen::inRange<size_t>(stretches, 500);
  size_t next = 0;
  for (size_t s = 0; s < stretches; ++s) {
    const Stretch stretch = nth_stretch(count, stretches, s);
    RC_ASSERT(stretch.begin == next);
    RC_ASSERT(stretch.end > stretch.begin);
    next = stretch.end;
  }
  RC_ASSERT(next == count);
}

TEST(Extremes, OfEqualsTheFirstIsLowestAndTheLastHighest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values = {nan, 3, 1, 5, 1, 5, 2};
  const auto at = [&](size_t i) { return values[i]; };

  const auto all = extremes_in({0, values.size()}, at);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->lowest, 2U);
  EXPECT_EQ(all->highest, 5U);
  EXPECT_FALSE(extremes_in({0, 1}, at));
  EXPECT_FALSE(extremes_in({3, 3}, at));
}

}  // namespace
}  // namespace plateau
