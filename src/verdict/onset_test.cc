// SPDX-License-Identifier: Apache-2.0
#include "verdict/onset.h"

#include <gtest/gtest.h>

#include <cmath>

#include "verdict/test_runs.h"

namespace plateau {
namespace {

TEST(Onset, GrowthThatSetsInLateIsDated) {
  const plateau::Run run =
      run_of(1000, 10, [](double step) { return 100 + (step > 400 ? step - 400 : 0); });
  EXPECT_EQ(judge(run).onset_step, 400);
}

TEST(Onset, SteadyGrowthSetsInAtTheStart) {
  const Verdict verdict = judge(run_of(1000, 10, [](double step) { return 100 + step; }));
  EXPECT_EQ(verdict.onset_step, verdict.first_step);
}

TEST(Onset, WhatIsLevelHasNone) {
  EXPECT_FALSE(judge(with_production_context(run_of(production_run2()))).onset_step);
  EXPECT_FALSE(judge(run_of(1000, 10, [](double) { return 100.0; })).onset_step);
  EXPECT_FALSE(judge(plateau::Run{}).onset_step);
}

}  // namespace
}  // namespace plateau
