// SPDX-License-Identifier: Apache-2.0
#include "report/cost.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

plateau::Run watched_run() {
  plateau::Run run;
  run.processes = {Process{}};
  for (int i = 0; i < 6; ++i) run.instants.push_back({.step = i, .time_s = 100.0 * i});
  run.gauges = {
      {.name = std::string(kCostCpu), .process = 0, .value = {0, 0.5, 0.5, 1.2, 1.2, 1.2}},
      {.name = std::string(kCostWalks),
       .process = 0,
       .value = {0, 0.001, 0.001, 0.0011, 0.0011, 0.0011}}};
  return run;
}

TEST(WatchCost, IsReadAtTheMomentItWasMeasured) {
  const auto cost = recorded_cost(watched_run());
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->cpu_share, 0.004);  // 1.2 s in 300 s.
  EXPECT_DOUBLE_EQ(cost->walk_share, 0.0011);
  EXPECT_EQ(cost_sentence(*cost),
            "watching took 0.40 % of one core, page walks 0.11 % of the job's time");
}

TEST(WatchCost, IsNotKnownOfLogsAndOfASingleInstant) {
  EXPECT_FALSE(recorded_cost(plateau::Run{}));
  plateau::Run run = watched_run();
  run.instants.resize(1);
  for (Gauge& gauge : run.gauges) gauge.value.resize(1);
  EXPECT_FALSE(recorded_cost(run));
  run = watched_run();
  run.gauges.pop_back();
  EXPECT_FALSE(recorded_cost(run));
}

TEST(WatchCost, OutlivesRowsInWhichNothingWasRead) {
  plateau::Run run = watched_run();
  for (Gauge& gauge : run.gauges) gauge.value.back() = kMissing;
  const auto cost = recorded_cost(run);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->cpu_share, 0.004);
}

}  // namespace
}  // namespace plateau
