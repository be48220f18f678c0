// SPDX-License-Identifier: Apache-2.0
#include "session/approach.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace plateau {
namespace {

// Looks every 0.05 s for `seconds` at a job that holds `mb_at(t)`; a step ends every `step_s`, none
// if that is 0.
Approach looked(const std::function<double(double)>& mb_at, double step_s, double seconds) {
  Approach approach;
  for (int i = 0; 0.05 * i <= seconds; ++i) {
    const double at_s = 0.05 * i;
    const int64_t step = step_s > 0 ? static_cast<int64_t>(at_s / step_s + 1e-9) : -1;
    approach.look(mb_at(at_s), at_s, step);
  }
  return approach;
}

TEST(Approach, AJobIsAskedTwoStepsAhead) {
  const auto leak = [](double t) { return 400 + 50 * std::floor(t / 0.15 + 1e-9); };
  EXPECT_NEAR(looked(leak, 0.15, 1.5).ahead_mb(900), 100 + 0.04 * 50 / 0.15, 1);
  const auto slow = [](double t) { return 400 + 1 * std::floor(t / 0.15 + 1e-9); };
  EXPECT_NEAR(looked(slow, 0.15, 1.5).ahead_mb(900), 2 + 0.04 / 0.15, 0.1);
}

TEST(Approach, TheLimitIsLookedAtMoreOftenTheNearerItIs) {
  const auto leak = [](double t) { return 400 + 50 * std::floor(t / 0.15 + 1e-9); };
  const Approach far = looked(leak, 0.15, 1.5);
  EXPECT_GT(far.look_in_s(9000), 10);
  EXPECT_LT(far.look_in_s(1100), 0.5);
  EXPECT_DOUBLE_EQ(far.look_in_s(900), Approach::kLeastLookSeconds);
}

TEST(Approach, WhatFirstStepsAllocateIsNoGrowth) {
  const auto warm_up = [](double t) { return t < 0.3 ? 100 : t < 0.6 ? 4000 : 9000; };
  const Approach approach = looked(warm_up, 0.3, 3);
  EXPECT_DOUBLE_EQ(approach.ahead_mb(9500), 0);
  EXPECT_TRUE(std::isinf(approach.look_in_s(9500)));
}

TEST(Approach, LoadingBeforeTheFirstStepCountsOnlyUntilTheNextLook) {
  const auto load = [](double t) { return std::min(800.0, 400 * t); };
  EXPECT_DOUBLE_EQ(looked(load, 0, 1.5).ahead_mb(900), 0);
  const Approach lasting = looked([](double t) { return 40 * t; }, 0, 5);
  EXPECT_NEAR(lasting.ahead_mb(900), 40 * 0.04, 0.2);
}

TEST(Approach, AnEvaluationThatBorrowsIsNoGrowth) {
  const auto spike = [](double t) { return t > 2 && t < 2.15 ? 4000.0 : 500.0; };
  EXPECT_DOUBLE_EQ(looked(spike, 0.1, 2.1).ahead_mb(5000), 0);
}

TEST(Approach, GrowthThatStoppedIsForgotten) {
  const auto stopped = [](double t) { return 400 + 50 * std::min(t, 2.0); };
  EXPECT_GT(looked(stopped, 0.1, 2).ahead_mb(900), 5);
  EXPECT_DOUBLE_EQ(looked(stopped, 0.1, 3).ahead_mb(900), 0);
}

TEST(Approach, StepsThatNoLongerComeSayNothing) {
  Approach approach = looked([](double t) { return 400 + 50 * t; }, 0.1, 2);
  for (int i = 1; i <= 100; ++i) approach.look(500, 2 + 0.05 * i, 20);
  EXPECT_DOUBLE_EQ(approach.ahead_mb(900), 0);
}

TEST(Approach, NeverMoreThanAQuarterOfTheLimitIsKeptFree) {
  const auto leak = [](double t) { return 100 * std::floor(t / 0.15 + 1e-9); };
  EXPECT_DOUBLE_EQ(looked(leak, 0.15, 1).ahead_mb(400), 100);
}

}  // namespace
}  // namespace plateau
