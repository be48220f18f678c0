// SPDX-License-Identifier: Apache-2.0
#include "verdict/examples_seen.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "verdict/test_runs.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

constexpr double kEpoch = 100;

// Steps, with new examples counted until `last_new`, four at a step.
Run counted(Run run, double last_new) {
  Gauge gauge;
  gauge.name = kExamplesSeen;
  for (const Instant& instant : run.instants) {
    gauge.value.push_back(4 * std::min(static_cast<double>(instant.step), last_new));
  }
  run.gauges.push_back(std::move(gauge));
  return run;
}

std::vector<double> clock_of(const Run& run) {
  std::vector<double> clock;
  for (const Instant& instant : run.instants) clock.push_back(static_cast<double>(instant.step));
  return clock;
}

Run straight_climb(int64_t steps) {
  return with_epoch(run_of(steps, 2, [](double step) { return 500 + 2 * step; }), kEpoch);
}

TEST(ExamplesSeen, TheLastNewOneIsKnownOnceTheCountHasStoodStill) {
  const plateau::Run run = counted(straight_climb(125), 98);
  EXPECT_EQ(last_new_example(run, clock_of(run)), 98);
}

TEST(ExamplesSeen, NothingIsKnownWhileNewOnesCome) {
  const plateau::Run run = counted(straight_climb(90), 98);
  EXPECT_FALSE(last_new_example(run, clock_of(run)));
}

TEST(ExamplesSeen, NothingIsKnownJustAfterThePass) {
  const plateau::Run run = counted(straight_climb(104), 98);
  EXPECT_FALSE(last_new_example(run, clock_of(run)));
}

TEST(ExamplesSeen, NothingIsKnownWithoutACount) {
  const plateau::Run run = straight_climb(125);
  EXPECT_FALSE(last_new_example(run, clock_of(run)));
}

TEST(ExamplesSeen, AClimbThatOutlastsTheLastNewExampleIsALeakAQuarterOfAPassLater) {
  const Verdict verdict = judge(counted(straight_climb(125), 98));
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_NE(found(verdict.evidence, FindingKind::outlasts_new_examples), nullptr);
  EXPECT_FALSE(verdict.mb_per_example);
}

TEST(ExamplesSeen, TheCountSettlesWhatIsUndecidedWithoutIt) {
  EXPECT_EQ(judge(straight_climb(116)).word, Word::undecided);
  EXPECT_EQ(judge(counted(straight_climb(116), 98)).word, Word::leak);
}

TEST(ExamplesSeen, AClimbThatEndsWithTheLastNewExampleIsAPlateauAQuarterOfAPassLater) {
  const plateau::Run run = with_epoch(
      run_of(125, 2, [](double step) { return 500 + 2 * std::min(step, kEpoch); }), kEpoch);
  EXPECT_EQ(judge(counted(run, 98)).word, Word::plateau);
}

// Two workers that live on: from the second pass on every second example is new to its worker.
Run counted_by_two_workers(Run run) {
  Gauge gauge;
  gauge.name = kExamplesSeen;
  for (const Instant& instant : run.instants) {
    const auto step = static_cast<double>(instant.step);
    gauge.value.push_back(4 * std::min(step, kEpoch) + 2 * std::max(0.0, step - kEpoch));
  }
  run.gauges.push_back(std::move(gauge));
  return run;
}

TEST(ExamplesSeen, ACacheInEachOfTwoWorkersIsNoLeakInTheSecondPass) {
  for (const int64_t steps : {125, 150, 199}) {
    const plateau::Run run =
        with_epoch(run_of(steps, 2,
                          [](double step) {
                            return 500 + 2 * std::min(step, kEpoch) + std::max(0.0, step - kEpoch);
                          }),
                   kEpoch);
    EXPECT_NE(judge(counted_by_two_workers(run)).word, Word::leak) << steps;
  }
}

TEST(ExamplesSeen, ALeakBesideTwoWorkersIsOneInTheSecondPass) {
  EXPECT_EQ(judge(counted_by_two_workers(straight_climb(150))).word, Word::leak);
}

TEST(ExamplesSeen, WhileNewExamplesComeAClimbIsNoLeakHoweverLongItTakes) {
  // Four passes of a loader that draws a quarter of the data each.
  const plateau::Run run = counted(straight_climb(125), 400);
  EXPECT_NE(judge(run).word, Word::leak);
}

}  // namespace
}  // namespace plateau
