// SPDX-License-Identifier: Apache-2.0
#include "probe/walk_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

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

TEST(WalkBudget, NoTargetIsEverAskedForMoreThanItsShareHoweverManyComeAndGo) {
  // 32 workers of 1 GB that live for 5 s each, beside a main that stays, for an hour.
  WalkBudget budget(0.002, 0.005);
  WalkTarget main{.born_s = 0};
  std::vector<WalkTarget> workers(32);
  double worst = 0;
  for (int tick = 0; tick < 36000; ++tick) {
    const double now_s = 30 + tick * 0.1;
    if (tick % 50 == 0) {
      for (WalkTarget& worker : workers) worker = {.born_s = now_s};
      budget.set_changed();
    }
    std::vector<WalkBudget::Load> loads = {{&main, kGb}};
    for (const WalkTarget& worker : workers) loads.push_back({&worker, kGb});
    if (!budget.due(now_s, loads)) continue;
    budget.begin_sweep();
    budget.book_walk(main, kGb, 0.025);
    for (WalkTarget& worker : workers) budget.book_walk(worker, kGb, 0.025);
    budget.end_sweep(now_s);
    for (const WalkTarget& worker : workers) worst = std::max(worst, worker.share(now_s));
    worst = std::max(worst, main.share(now_s));
  }
  EXPECT_LE(worst, 0.002);
}

TEST(WalkBudget, ReadsOfOtherFilesUnderTheLockCountToo) {
  WalkBudget budget(0.002, 0.005);
  WalkTarget target{.born_s = 0};
  const std::array loads = {WalkBudget::Load{&target, kGb}};
  EXPECT_FALSE(budget.due(0, loads));
  budget.book(target, 0.1);
  EXPECT_FALSE(budget.due(60, loads));
  EXPECT_TRUE(budget.due(65, loads));
}

TEST(WalkBudget, FirstSweepOfAShortLifeIsPaidForBeforeTheNext) {
  WalkBudget budget(0.002, 0.005);
  WalkTarget target{.born_s = 0};
  const std::array loads = {WalkBudget::Load{&target, kGb / 2}};
  ASSERT_TRUE(budget.due(0.1, loads));
  sweep(budget, target, kGb / 2, 0.010, 0.1);
  EXPECT_FALSE(budget.due(9.9, loads));
  EXPECT_TRUE(budget.due(10.1, loads));
}

TEST(WalkBudget, ShareIsOfTheWholeLife) {
  WalkTarget target{.born_s = -10, .walked_s = 0.1};
  EXPECT_DOUBLE_EQ(target.share(90), 0.001);
  EXPECT_DOUBLE_EQ(target.share(-10), 1);
}

}  // namespace
}  // namespace plateau
