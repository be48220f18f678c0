// SPDX-License-Identifier: Apache-2.0
#include "import/endings.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

plateau::Run run_of(const std::vector<double>& mb) {
  plateau::Run run;
  run.processes.push_back({.id = 0});
  for (size_t i = 0; i < mb.size(); ++i) run.instants.push_back({.step = static_cast<int64_t>(i)});
  run.series.push_back({0, Metric::rss, "rss", mb});
  return run;
}

TEST(Endings, ZerosAtTheEndAreAProcessThatHasGone) {
  plateau::Run run = run_of({100, 110, 120, 130, 0, 0});
  mark_endings(run);
  EXPECT_EQ(run.instants.size(), 4U);
  EXPECT_EQ(run.notes.size(), 1U);
}

TEST(Endings, AFallAtOnceThatNeverComesBackIsAnEnd) {
  plateau::Run run = run_of({100, 110, 120, 130, 140, 150, 160, 170, 180, 9, 10, 11});
  mark_endings(run);
  EXPECT_EQ(run.series[0].mb.back(), 180);
}

TEST(Endings, ASawIsNoSeriesOfEnds) {
  std::vector<double> saw;
  for (int i = 0; i < 60; ++i) saw.push_back(10 + 10 * (i % 12));
  plateau::Run run = run_of(saw);
  mark_endings(run);
  EXPECT_EQ(run.instants.size(), 60U);
}

TEST(Endings, WhatIsBuiltUpAgainWasNoEnd) {
  plateau::Run run = run_of({100, 110, 120, 130, 140, 150, 160, 170, 180, 9, 80, 120, 160, 170});
  mark_endings(run);
  EXPECT_EQ(run.instants.size(), 14U);
}

}  // namespace
}  // namespace plateau
