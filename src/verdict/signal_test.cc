// SPDX-License-Identifier: Apache-2.0
#include "verdict/signal.h"

#include <gtest/gtest.h>

#include "verdict/test_runs.h"

namespace plateau {
namespace {

Series column(size_t process, Metric metric, std::vector<double> mb) {
  return {.process = process, .metric = metric, .label = "", .mb = std::move(mb)};
}

Run parent_and_worker() {
  plateau::Run run;
  run.processes = {{.id = 1}, {.id = 2, .parent = 1}};
  run.instants = {{.step = 1}, {.step = 2}};
  return run;
}

TEST(Signals, CopyOnWriteShowsInOwnedMemoryThoughRssIsFlat) {
  plateau::Run run = parent_and_worker();
  run.series = {column(0, Metric::anon, {400, 400}), column(0, Metric::pss, {210, 390}),
                column(1, Metric::anon, {400, 400}), column(1, Metric::pss, {210, 390})};
  const Signals signals = extract_signals(run);
  EXPECT_DOUBLE_EQ(signals.components[0].points[0].mb, 420);
  EXPECT_DOUBLE_EQ(signals.components[0].points[1].mb, 780);
}

TEST(Signals, SwapIsOwnedToo) {
  plateau::Run run = run_of({{1, 100}, {2, 60}}, Metric::anon);
  run.series.push_back(column(0, Metric::swap, {0, 40}));
  const Signals signals = extract_signals(run);
  EXPECT_DOUBLE_EQ(signals.components[0].points[1].mb, 100);
}

TEST(Signals, MappedFileIsAComponentOfItsOwn) {
  plateau::Run run = run_of({{1, 80}, {2, 80}}, Metric::anon);
  run.series.push_back(column(0, Metric::file, {10, 300}));
  run.series.push_back(column(0, Metric::pss, {90, 380}));
  const Signals signals = extract_signals(run);
  ASSERT_EQ(signals.components.size(), 2u);
  EXPECT_DOUBLE_EQ(signals.components[0].points[1].mb, 80);
  EXPECT_TRUE(signals.components[1].reclaimable);
}

TEST(Signals, WorkerThatLeavesTakesItsMemoryWithIt) {
  plateau::Run run = parent_and_worker();
  run.series = {column(0, Metric::rss, {100, 100}), column(1, Metric::rss, {50, kMissing})};
  const Signals signals = extract_signals(run);
  EXPECT_DOUBLE_EQ(signals.components[0].points[0].mb, 150);
  EXPECT_DOUBLE_EQ(signals.components[0].points[1].mb, 100);
  EXPECT_DOUBLE_EQ(signals.process_count[1], 1);
}

TEST(Signals, StepsAreTheClockWhenEveryRowHasOneElseSeconds) {
  plateau::Run run = run_of({{10, 1}, {20, 2}});
  EXPECT_EQ(extract_signals(run).clock, Clock::steps);
  run.instants[0] = {.step = -1, .time_s = 100};
  run.instants[1] = {.step = 20, .time_s = 160};
  const Signals signals = extract_signals(run);
  EXPECT_EQ(signals.clock, Clock::seconds);
  EXPECT_DOUBLE_EQ(signals.clock_of_instant[1], 60);
}

TEST(Signals, TwoSamplesOfOneStepCountOnceWithTheLower) {
  const Signals signals = extract_signals(run_of({{10, 7}, {10, 5}, {20, 9}}));
  ASSERT_EQ(signals.components[0].points.size(), 2u);
  EXPECT_DOUBLE_EQ(signals.components[0].points[0].mb, 5);
}

TEST(Signals, RunWithoutFiguresHasNoComponents) {
  EXPECT_TRUE(extract_signals(plateau::Run{}).components.empty());
}

}  // namespace
}  // namespace plateau
