// SPDX-License-Identifier: Apache-2.0
#include "verdict/step_spread.h"

#include <gtest/gtest.h>

#include "verdict/verdict.h"

namespace plateau {
namespace {

// `seconds` samples, one a second; the job names its position every `every` seconds, `steps` apart.
Run run_of(int seconds, int every, int64_t steps) {
  Run run;
  for (int s = 0; s < seconds; ++s) {
    run.instants.push_back({.step = s / every * steps, .time_s = static_cast<double>(s)});
  }
  return run;
}

// The same, with a main process that owns `mb(second)`.
template <typename Curve>
Run run_that_owns(int seconds, int every, int64_t steps, Curve mb) {
  plateau::Run run = run_of(seconds, every, steps);
  run.command = "train";
  run.processes.push_back({.id = 1, .id_is_pid = true, .name = "train"});
  Series owned{.process = 0, .metric = Metric::anon, .label = "", .mb = {}};
  for (int s = 0; s < seconds; ++s) owned.mb.push_back(mb(s));
  run.series.push_back(std::move(owned));
  return run;
}

TEST(StepSpread, SamplesBetweenRareMarksStandBetweenThem) {
  const std::vector<double> clock = step_clock(run_of(80, 10, 20));
  EXPECT_DOUBLE_EQ(clock[5], 0) << "before the second mark nobody knows when the work began";
  EXPECT_DOUBLE_EQ(clock[10], 20);
  EXPECT_DOUBLE_EQ(clock[15], 30);
  EXPECT_DOUBLE_EQ(clock[20], 40);
  EXPECT_DOUBLE_EQ(clock[75], 150) << "after the last mark it goes on at the same pace";
}

TEST(StepSpread, AJobThatNamesItsStepsOftenIsTakenAtItsWord) {
  const std::vector<double> clock = step_clock(run_of(160, 4, 1));
  EXPECT_DOUBLE_EQ(clock[6], 1);
}

TEST(StepSpread, AClockThatStandsStillGoesOnNoFurtherThanOneMark) {
  plateau::Run run = run_of(80, 10, 20);
  for (int s = 80; s < 200; ++s)
    run.instants.push_back({.step = 140, .time_s = static_cast<double>(s)});
  EXPECT_DOUBLE_EQ(step_clock(run).back(), 160);
}

TEST(StepSpread, WhatComesAfterTheLastMarkOfAJobThatHasEndedIsItsEnd) {
  plateau::Run run = run_of(80, 10, 20);
  run.ending.kind = Ending::Kind::exited;
  EXPECT_DOUBLE_EQ(step_clock(run).back(), 140);
}

TEST(StepSpread, StepsThatGoBackAreLeftAsTheyAre) {
  plateau::Run run = run_of(80, 10, 20);
  run.instants.back().step = 0;
  EXPECT_DOUBLE_EQ(step_clock(run)[15], 20);
}

TEST(StepSpread, ALeakWhoseLoopNamesSevenStepsLeansToALeak) {
  const Verdict verdict =
      judge(run_that_owns(160, 20, 20, [](int s) { return 100 + 0.5 * s + (s % 3) * 0.2; }));
  EXPECT_NE(verdict.word, Word::plateau);
  EXPECT_NE(verdict.word, Word::warming);
  EXPECT_GT(verdict.samples, 100U) << "all that was seen counts";
}

}  // namespace
}  // namespace plateau
