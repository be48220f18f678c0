// SPDX-License-Identifier: Apache-2.0
#include "inject/growth_look.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace plateau {
namespace {

std::vector<MemoryPoint> points(const std::function<double(double)>& mb_at) {
  std::vector<MemoryPoint> all;
  for (int i = 0; i <= 40; ++i) all.push_back({0.05 * i, mb_at(0.05 * i)});
  return all;
}

TEST(GrowthLook, ALeakInStepsHasItsRate) {
  const GrowthLook look =
      judge_growth(points([](double t) { return 70 + 2 * std::floor(t / 0.2 + 1e-9); }));
  EXPECT_TRUE(look.grows);
  EXPECT_NEAR(look.mb_per_s, 10, 0.5);
  EXPECT_NEAR(look.seconds, 2, 1e-9);
}

TEST(GrowthLook, BuffersThatComeAndGoAreNoGrowth) {
  const GrowthLook look =
      judge_growth(points([](double t) { return 70 + 30 * std::fmod(t, 0.4); }));
  EXPECT_FALSE(look.grows);
}

TEST(GrowthLook, WhatFallsDoesNotGrow) {
  const GrowthLook look = judge_growth(points([](double t) { return 70 - 5 * t; }));
  EXPECT_FALSE(look.grows);
  EXPECT_LT(look.mb_per_s, 0);
}

TEST(GrowthLook, FewPointsShowNothing) {
  EXPECT_FALSE(judge_growth({}).grows);
  EXPECT_FALSE(judge_growth({{0, 1}, {1, 100}, {2, 200}}).grows);
}

TEST(GrowthLook, AProcessThatIsNotThereIsNotLookedAt) {
  EXPECT_FALSE(look_at_growth(4194303, 0.1));
  EXPECT_FALSE(look_at_growth(1, 0)) << "no time to look";
}

}  // namespace
}  // namespace plateau
