// SPDX-License-Identifier: Apache-2.0
#include "verdict/event_growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "verdict/test_runs.h"

namespace plateau {
namespace {

// Samples every 10 steps up to 1,200; `mb(step, events so far)` with an event every 100 steps, seen
// from the sample after it on.
Run with_events(EventKind kind, double per_event, double per_step, double noise_mb = 1) {
  Noise noise(7);
  Run run = run_of(1200, 10, [&](double step) {
    const double events = std::floor((step - 1) / 100);
    return 4000 + per_event * events + per_step * step + noise_mb * noise();
  });
  for (size_t i = 9; i < run.instants.size(); i += 10) run.events.push_back({i, kind, ""});
  return with_epoch(std::move(run), kind == EventKind::epoch ? 100 : 150);
}

const ClockGrowth* find(const std::vector<ClockGrowth>& clocks, GrowthClock clock) {
  const auto at = std::find_if(clocks.begin(), clocks.end(),
                               [clock](const ClockGrowth& of) { return of.clock == clock; });
  return at == clocks.end() ? nullptr : &*at;
}

size_t followed(const std::vector<ClockGrowth>& clocks) {
  return static_cast<size_t>(std::count_if(clocks.begin(), clocks.end(),
                                           [](const ClockGrowth& of) { return of.follows; }));
}

std::vector<ClockGrowth> growth_of(const Run& run) {
  return growth_by_clock(run, judge(run));
}

class GrowthPerEvent : public ::testing::TestWithParam<std::pair<EventKind, GrowthClock>> {};

TEST_P(GrowthPerEvent, FollowsThatEventAndNoOther) {
  const auto& [kind, clock] = GetParam();
  const std::vector<ClockGrowth> clocks = growth_of(with_events(kind, 80, 0));
  const ClockGrowth* of = find(clocks, clock);
  ASSERT_NE(of, nullptr);
  EXPECT_TRUE(of->follows);
  EXPECT_EQ(followed(clocks), 1u);
  EXPECT_NEAR(of->mb_per_event.value_or(0), 80, 2);
  ASSERT_TRUE(of->range);
  EXPECT_LE(of->range->low, 80);
  EXPECT_GE(of->range->high, 80);
  EXPECT_GT(of->share.value_or(0), 0.95);
  EXPECT_LT(of->share_expected.value_or(1), 0.3);
}

INSTANTIATE_TEST_SUITE_P(Clocks, GrowthPerEvent,
                         ::testing::Values(std::pair(EventKind::eval, GrowthClock::eval),
                                           std::pair(EventKind::checkpoint,
                                                     GrowthClock::checkpoint),
                                           std::pair(EventKind::epoch, GrowthClock::epoch)));

TEST(EventGrowth, GrowthPerStepIsNotBlamedOnEvaluations) {
  const std::vector<ClockGrowth> clocks = growth_of(with_events(EventKind::eval, 0, 0.8));
  const ClockGrowth* steps = find(clocks, GrowthClock::step);
  ASSERT_NE(steps, nullptr);
  EXPECT_EQ(&clocks.front(), steps);
  EXPECT_TRUE(steps->follows);
  EXPECT_EQ(followed(clocks), 1u);
  EXPECT_NEAR(steps->mb_per_event.value_or(0), 0.8, 0.05);
  const ClockGrowth* evals = find(clocks, GrowthClock::eval);
  ASSERT_NE(evals, nullptr);
  EXPECT_NEAR(evals->share.value_or(0), evals->share_expected.value_or(1), 0.05);
}

TEST(EventGrowth, BothAreNamedWhereEvaluationsAddToALeakPerStep) {
  const std::vector<ClockGrowth> clocks = growth_of(with_events(EventKind::eval, 80, 0.2));
  const ClockGrowth* evals = find(clocks, GrowthClock::eval);
  ASSERT_NE(evals, nullptr);
  EXPECT_TRUE(evals->follows);
  EXPECT_NEAR(evals->mb_per_event.value_or(0), 80, 3);
  EXPECT_NEAR(evals->between_mb_per_step, 0.2, 0.02);
}

TEST(EventGrowth, ACacheThatFillsInTheFirstPassFollowsSteps) {
  const plateau::Run run = with_production_context(run_of(production_run2()));
  const std::vector<ClockGrowth> clocks = growth_of(run);
  const ClockGrowth* steps = find(clocks, GrowthClock::step);
  ASSERT_NE(steps, nullptr);
  EXPECT_TRUE(steps->follows);
  const ClockGrowth* epochs = find(clocks, GrowthClock::epoch);
  ASSERT_NE(epochs, nullptr);
  EXPECT_FALSE(epochs->follows);
}

TEST(EventGrowth, ALevelRunFollowsNothing) {
  const std::vector<ClockGrowth> clocks = growth_of(with_events(EventKind::eval, 0, 0, 5));
  ASSERT_EQ(clocks.size(), 3u);  // Steps, passes, evaluations.
  EXPECT_EQ(followed(clocks), 0u);
  for (const ClockGrowth& of : clocks) {
    EXPECT_FALSE(of.mb_per_event);
    EXPECT_FALSE(of.share);
  }
}

TEST(EventGrowth, ARunWithoutEventsHasStepsOnly) {
  const plateau::Run run = run_of(1200, 10, [](double step) { return 1000 + step; });
  const std::vector<ClockGrowth> clocks = growth_of(run);
  ASSERT_EQ(clocks.size(), 1u);
  EXPECT_TRUE(clocks[0].follows);
  EXPECT_NEAR(clocks[0].mb_per_event.value_or(0), 1, 0.01);
  EXPECT_NEAR(clocks[0].share.value_or(0), 1, 1e-9);
}

TEST(EventGrowth, EventsThatAlwaysComeTogetherAreNotToldApart) {
  plateau::Run run = with_events(EventKind::eval, 80, 0);
  const std::vector<Event> evaluations = run.events;
  for (const Event& event : evaluations) {
    run.events.push_back({event.instant, EventKind::checkpoint, ""});
  }
  const std::vector<ClockGrowth> clocks = growth_of(run);
  EXPECT_EQ(followed(clocks), 2u);
  EXPECT_TRUE(find(clocks, GrowthClock::eval)->follows);
  EXPECT_TRUE(find(clocks, GrowthClock::checkpoint)->follows);
}

TEST(EventGrowth, SpikesOfEvaluationsAreNoGrowth) {
  plateau::Run run = with_events(EventKind::eval, 0, 0.8);
  for (const Event& event : run.events) {
    for (size_t i = event.instant + 1; i < event.instant + 4 && i < run.instants.size(); ++i) {
      run.series[0].mb[i] += 900;
    }
  }
  const std::vector<ClockGrowth> clocks = growth_of(run);
  EXPECT_FALSE(find(clocks, GrowthClock::eval)->follows);
}

TEST(EventGrowth, TwoEvaluationsAreTooFewToTell) {
  plateau::Run run = run_of(
      600, 10, [](double step) { return 1000 + (step > 200) * 300.0 + (step > 400) * 300.0; });
  run.events = {{19, EventKind::eval, ""}, {39, EventKind::eval, ""}};
  const std::vector<ClockGrowth> clocks = growth_of(run);
  EXPECT_EQ(followed(clocks), 0u);
}

TEST(EventGrowth, AnEmptyRunHasNoClocks) {
  EXPECT_TRUE(growth_of(plateau::Run{}).empty());
}

}  // namespace
}  // namespace plateau
