// SPDX-License-Identifier: Apache-2.0
#include "probe/walk_budget.h"

#include <gtest/gtest.h>

#include <array>

namespace plateau {
namespace {

constexpr int64_t kGb = 1024 * 1024;  // In kB.

void sweep(WalkBudget& budget, WalkTarget& target, int64_t rss_kb, double took_s, double now_s) {
  budget.begin_sweep();
  budget.book_walk(target, rss_kb, took_s);
  budget.end_sweep(now_s);
}

TEST(WalkBudget, SmallTreeIsWalkedAtOnce) {
  WalkBudget budget(0.002, 0.005);
  WalkTarget target{.born_s = 0};
  const std::array loads = {WalkBudget::Load{&target, kGb / 2}};
  EXPECT_TRUE(budget.due(0, loads));
}

TEST(WalkBudget, LargeTreeWaitsUntilTheFirstWalkIsPaidFor) {
  WalkBudget budget(0.002, 0.005);
  WalkTarget target{.born_s = 0};
  const std::array loads = {WalkBudget::Load{&target, 8 * kGb}};
  // 0.2 s expected: 40 s of our time, 100 s of the target's.
  EXPECT_FALSE(budget.due(0, loads));
  EXPECT_FALSE(budget.due(99, loads));
  EXPECT_TRUE(budget.due(101, loads));
}

TEST(WalkBudget, TargetThatLivedLongBeforeWeCameHasPaidItsPart) {
  WalkBudget budget(0.002, 0.005);
  WalkTarget target{.born_s = -3600};
  const std::array loads = {WalkBudget::Load{&target, 8 * kGb}};
  EXPECT_FALSE(budget.due(0, loads));
  EXPECT_FALSE(budget.due(39, loads));
  EXPECT_TRUE(budget.due(41, loads));
}

TEST(WalkBudget, NextSweepWaitsForTheMeasuredOne) {
  WalkBudget budget(0.002, 0.005);
  WalkTarget target{.born_s = -3600};
  const std::array loads = {WalkBudget::Load{&target, kGb}};
  sweep(budget, target, kGb, 0.010, 0);
  EXPECT_FALSE(budget.due(4.9, loads));
  EXPECT_TRUE(budget.due(5.1, loads));
}

TEST(WalkBudget, GrowthSinceTheLastWalkIsExpectedToCost) {
  WalkBudget budget(0.002, 0.005);
  WalkTarget target{.born_s = -3600};
  sweep(budget, target, kGb, 0.010, 0);
  const std::array loads = {WalkBudget::Load{&target, 4 * kGb}};
  EXPECT_FALSE(budget.due(19, loads));
  EXPECT_TRUE(budget.due(21, loads));
}

TEST(WalkBudget, ChangedSetIsLookedAtSooner) {
  WalkBudget budget(0.002, 0.005);
  WalkTarget target{.born_s = -3600};
  const std::array loads = {WalkBudget::Load{&target, 100}};
  EXPECT_TRUE(budget.due(0, loads));
  sweep(budget, target, 100, 0.0001, 0);
  EXPECT_FALSE(budget.due(0.5, loads));
  budget.set_changed();
  EXPECT_TRUE(budget.due(0.5, loads));
  EXPECT_FALSE(budget.due(0.1, loads));
}

TEST(WalkBudget, WantedWalkIgnoresTheBudgetOnce) {
  WalkBudget budget(0.002, 0.005);
  WalkTarget target{.born_s = 0};
  const std::array loads = {WalkBudget::Load{&target, 100 * kGb}};
  budget.want();
  EXPECT_TRUE(budget.due(0, loads));
  sweep(budget, target, 100 * kGb, 2.5, 0);
  EXPECT_FALSE(budget.due(1, loads));
}

TEST(WalkBudget, ManyNewcomersDoNotHoldUpTheSweepForever) {
  WalkBudget budget(0.002, 0.005);
  WalkTarget old{.born_s = -3600};
  sweep(budget, old, kGb, 0.010, 0);
  // Born a second ago, whenever one asks: its 25 ms walk is never paid for by its own life.
  const auto due = [&](double now_s) {
    const WalkTarget newcomer{.born_s = now_s - 1};
    const std::array loads = {WalkBudget::Load{&old, kGb}, WalkBudget::Load{&newcomer, kGb}};
    return budget.due(now_s, loads);
  };
  EXPECT_FALSE(due(8));
  EXPECT_TRUE(due(22));
}

TEST(WalkBudget, ShareIsOfTheWholeLife) {
  WalkTarget target{.born_s = -10, .walked_s = 0.1};
  EXPECT_DOUBLE_EQ(target.share(90), 0.001);
  EXPECT_DOUBLE_EQ(target.share(-10), 1);
}

}  // namespace
}  // namespace plateau
