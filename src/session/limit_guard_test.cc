// SPDX-License-Identifier: Apache-2.0
#include "session/limit_guard.h"

#include <gtest/gtest.h>

#include "session/pace.h"

namespace plateau {
namespace {

TEST(LimitGuard, BelowTheLimitNothingHappens) {
  LimitGuard guard({.limit_mb = 100, .on_limit = OnLimit::stop, .grace_s = 10});
  EXPECT_EQ(guard.check(99, 0, true), LimitAction::none);
  EXPECT_FALSE(guard.acted());
}

TEST(LimitGuard, WithoutALimitNothingEverHappens) {
  LimitGuard guard({});
  EXPECT_EQ(guard.check(1e9, 0, true), LimitAction::none);
}

TEST(LimitGuard, AWarningIsRepeatedOnlyAfterMemoryHadFallen) {
  LimitGuard guard({.limit_mb = 100, .on_limit = OnLimit::warn, .grace_s = 10});
  EXPECT_EQ(guard.check(101, 0, true), LimitAction::warn);
  EXPECT_EQ(guard.check(120, 1, true), LimitAction::none);
  EXPECT_EQ(guard.check(97, 2, true), LimitAction::none);
  EXPECT_EQ(guard.check(101, 3, true), LimitAction::none);
  EXPECT_EQ(guard.check(90, 4, true), LimitAction::none);
  EXPECT_EQ(guard.check(101, 5, true), LimitAction::warn);
  EXPECT_FALSE(guard.acted());
}

TEST(LimitGuard, CheckpointAsksThenEndsThenKillsEachAfterItsGrace) {
  LimitGuard guard({.limit_mb = 100, .on_limit = OnLimit::checkpoint, .grace_s = 10});
  EXPECT_EQ(guard.check(101, 0, true), LimitAction::save);
  EXPECT_EQ(guard.check(50, 9, true), LimitAction::none);
  EXPECT_EQ(guard.check(50, 10, true), LimitAction::terminate);
  EXPECT_EQ(guard.check(50, 19, true), LimitAction::none);
  EXPECT_EQ(guard.check(50, 20, true), LimitAction::kill);
  EXPECT_EQ(guard.check(50, 99, true), LimitAction::none);
  EXPECT_TRUE(guard.acted());
}

TEST(LimitGuard, AJobThatCannotSaveIsAskedToEndAtOnce) {
  LimitGuard guard({.limit_mb = 100, .on_limit = OnLimit::checkpoint, .grace_s = 10});
  EXPECT_EQ(guard.check(101, 0, false), LimitAction::terminate);
}

TEST(LimitGuard, AJobIsAskedBeforeTheLimitByWhatItAddsUntilItReacts) {
  LimitGuard guard({.limit_mb = 100, .on_limit = OnLimit::checkpoint, .grace_s = 10});
  EXPECT_EQ(guard.check(89, 0, true, 10), LimitAction::none);
  EXPECT_EQ(guard.check(90, 0, true, 10), LimitAction::save);
}

TEST(LimitGuard, AWarningWaitsForTheLimitItself) {
  LimitGuard guard({.limit_mb = 100, .on_limit = OnLimit::warn, .grace_s = 10});
  EXPECT_EQ(guard.check(99, 0, true, 10), LimitAction::none);
  EXPECT_EQ(guard.check(100, 0, true, 10), LimitAction::warn);
}

TEST(Pace, SamplesOftenAtFirstAndOncePerSecondLater) {
  const Pace pace;
  EXPECT_DOUBLE_EQ(pace.interval_s(0), 0.1);
  EXPECT_DOUBLE_EQ(pace.interval_s(200), 0.5);
  EXPECT_DOUBLE_EQ(pace.interval_s(86400), 1.0);
}

TEST(Pace, AStepBringsTheNextSampleForward) {
  Pace pace(1.0);
  pace.sampled(10);
  EXPECT_FALSE(pace.due_after_step(10.4));
  EXPECT_TRUE(pace.due_after_step(10.5));
  EXPECT_FALSE(pace.due(10.9));
  EXPECT_TRUE(pace.due(11));
}

}  // namespace
}  // namespace plateau
