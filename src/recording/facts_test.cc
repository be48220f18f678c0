// SPDX-License-Identifier: Apache-2.0
#include "recording/facts.h"

#include <gtest/gtest.h>

#include <vector>

namespace plateau {
namespace {

TEST(Context, EpochIsExamplesOverBatchRoundedUp) {
  Context context;
  EXPECT_FALSE(epoch_steps_of(context));
  context.examples = Fact{663, "test"};
  context.batch = Fact{8, "test"};
  EXPECT_DOUBLE_EQ(*epoch_steps_of(context), 83);
}

TEST(ApplyFacts, CommandLineWinsOverTheLog) {
  Context context;
  context.examples = Fact{100, "log line 4"};
  context.epoch_steps = Fact{50, "log line 5"};
  Context given;
  given.examples = Fact{663, "--examples"};
  given.batch = Fact{8, "--batch"};
  apply_facts(given, context);
  EXPECT_EQ(context.examples->source, "--examples");
  EXPECT_EQ(epoch_steps_of(context), 83);
}

TEST(ApplyFacts, EpochOfTheLogStaysWhenNothingBetterIsGiven) {
  Context context;
  context.epoch_steps = Fact{50, "log line 5"};
  Context given;
  given.examples = Fact{663, "--examples"};
  apply_facts(given, context);
  EXPECT_EQ(epoch_steps_of(context), 50);
}

TEST(EpochLength, StatedFactsSayWhereTheyComeFrom) {
  plateau::Run run;
  run.context.examples = Fact{663, "test"};
  run.context.batch = Fact{8, "test"};
  const EpochLength counted = epoch_length_of(run, {}, true);
  EXPECT_DOUBLE_EQ(counted.length, 83);
  EXPECT_EQ(counted.source, "663 examples / 8 per step");
  run.context.epoch_steps = Fact{90, "line 4"};
  EXPECT_EQ(epoch_length_of(run, {}, true).source, "line 4");
}

TEST(EpochLength, EpochsAsLoggedServeOnAnyClock) {
  plateau::Run run;
  run.context.epoch_steps = Fact{90, "line 4"};
  run.instants = {{.epoch = 1}, {}, {.epoch = 3}};
  const std::vector<double> seconds = {10, 20, 30};
  const EpochLength logged = epoch_length_of(run, seconds, false);
  EXPECT_DOUBLE_EQ(logged.length, 10);
  EXPECT_EQ(logged.source, "epochs as logged");
  run.instants[2].epoch = 1;
  EXPECT_DOUBLE_EQ(epoch_length_of(run, seconds, false).length, 0);
}

TEST(EpochLength, EpochsThatAreNamedWithoutAStepAreKnownByTheirTimes) {
  plateau::Run run;
  run.instants.resize(8);
  const std::vector<double> seconds = {0, 40, 60, 80, 100, 120, 140, 160};
  for (const size_t instant : {1, 2, 4, 5, 7}) {
    run.events.push_back({.instant = instant, .kind = EventKind::epoch});
  }
  EXPECT_DOUBLE_EQ(epoch_length_of(run, seconds, false).length, 40) << "of gaps 20, 40, 20, 40";
  EXPECT_DOUBLE_EQ(epoch_length_of(run, seconds, true).length, 0) << "seconds are no steps";
}

// Instants every 5 steps from `first` on, in epochs of 100 steps counted from 1.
plateau::Run whole_epochs(int64_t first, int64_t last) {
  plateau::Run run;
  for (int64_t step = first; step <= last; step += 5) {
    run.instants.push_back({.step = step, .epoch = static_cast<double>((step - 1) / 100 + 1)});
  }
  return run;
}

double steps_an_epoch(const plateau::Run& run) {
  std::vector<double> clock;
  for (const Instant& at : run.instants) clock.push_back(static_cast<double>(at.step));
  return epoch_length_of(run, clock, true).length;
}

TEST(EpochLength, OfWholeEpochsIsKnownOnceTheSecondBegins) {
  EXPECT_DOUBLE_EQ(steps_an_epoch(whole_epochs(5, 100)), 0);
  EXPECT_DOUBLE_EQ(steps_an_epoch(whole_epochs(5, 105)), 100);
}

TEST(EpochLength, OfWholeEpochsDoesNotCountTheOneThatIsUnderWay) {
  EXPECT_DOUBLE_EQ(steps_an_epoch(whole_epochs(5, 150)), 100);
  EXPECT_DOUBLE_EQ(steps_an_epoch(whole_epochs(5, 380)), 100);
}

TEST(EpochLength, OfAnEpochThatWasSeenFromItsMiddleOnCountsFromTheFirstStep) {
  EXPECT_NEAR(steps_an_epoch(whole_epochs(60, 150)), 100, 5);
  EXPECT_DOUBLE_EQ(steps_an_epoch(whole_epochs(60, 290)), 100);
}

TEST(EpochLength, OfEpochsNamedAtTheirEndsIsTheClockBetweenTwoOfThem) {
  plateau::Run run = whole_epochs(5, 300);
  for (Instant& at : run.instants) at.epoch = at.epoch == 1 ? kMissing : at.epoch - 1;
  EXPECT_DOUBLE_EQ(steps_an_epoch(run), 100);
}

TEST(EpochRatio, TheLatestPairCounts) {
  EpochRatio ratio;
  ratio.see(9, 0.11);
  ratio.see(120, 1.45);
  EXPECT_EQ(ratio.steps(), 83);
}

TEST(EpochRatio, WholeEpochsAndResetStepsSayNothing) {
  EpochRatio whole;
  whole.see(83, 1);
  whole.see(166, 2);
  EXPECT_FALSE(whole.steps());
  EpochRatio reset;
  reset.see(120, 1.45);
  reset.see(20, 1.7);
  EXPECT_FALSE(reset.steps());
  EXPECT_FALSE(EpochRatio().steps());
}

}  // namespace
}  // namespace plateau
