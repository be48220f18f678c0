// SPDX-License-Identifier: Apache-2.0
// Servers: memory that follows the load, and growth that no cache explains.
#include "verdict/load.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

#include "verdict/largest_cache.h"
#include "verdict/test_runs.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

using Curve = std::function<double(double)>;  // Of hours.

// One process by the clock on the wall, a sample a minute.
Run server(double hours, const Curve& mb) {
  Run run;
  run.source = "made-up";
  run.processes = {Process{}};
  Series series{.process = 0, .metric = Metric::rss, .label = "rss", .mb = {}};
  for (double minute = 0; minute < hours * 60; ++minute) {
    run.instants.push_back({.time_s = minute * 60});
    series.mb.push_back(mb(minute / 60));
  }
  run.series = {series};
  return run;
}

Run with_gauge(Run run, const std::string& name, const Curve& value) {
  Gauge gauge{.name = name, .process = 0, .value = {}};
  for (const Instant& instant : run.instants) gauge.value.push_back(value(instant.time_s / 3600));
  run.gauges.push_back(gauge);
  return run;
}

// A morning: from the night's traffic to that of noon.
double morning(double hour) {
  return std::pow(std::sin(std::numbers::pi / 2 * hour / 6), 2);
}

// By the clock on the wall a job that gets less of a busy machine slows down, whatever it keeps.
TEST(Load, GrowthThatSlowsIsNoWarmUpWithinMinutes) {
  Noise noise(5);
  plateau::Run run =
      server(200 / 60.0, [&](double h) { return 400 - 300 * std::exp(-h / 1.5) + noise(); });
  EXPECT_EQ(judge(run).word, Word::warming);
  for (Instant& instant : run.instants) instant.time_s /= 60;
  EXPECT_EQ(judge(run).word, Word::undecided);
}

TEST(Load, OneClimbOfAServerStaysUndecidedAndSaysThatItMayBeTheLoad) {
  Noise noise(1);
  const Verdict verdict = judge(server(6, [&](double h) { return 2000 + 600 * h + 20 * noise(); }));
  EXPECT_EQ(verdict.word, Word::undecided);
  EXPECT_TRUE(verdict.may_follow_load);
  EXPECT_EQ(verdict.missing.kind, FindingKind::load_missing);
  EXPECT_EQ(verdict.experiment.kind, FindingKind::try_less_load);
}

// None of these is the straight line that a cache fills in; traffic rises in any of them.
TEST(Load, OneClimbMayBeTheLoadWhateverItsShape) {
  Noise noise(3);
  const auto after_a_warm_up = [&](double h) {
    return 400 + 600 * (1 - std::exp(-8 * h)) + 180 * h + 6 * noise();
  };
  EXPECT_EQ(judge(server(6, after_a_warm_up)).word, Word::undecided);
  const auto of_a_morning = [&](double h) {
    return 900 + 240 * std::max(0.0, h - 3) + 6 * noise();
  };
  EXPECT_EQ(judge(server(6, of_a_morning)).word, Word::undecided);
  const auto in_steps = [&](double h) { return 900 + 150 * std::floor(1.5 * h) + 6 * noise(); };
  EXPECT_EQ(judge(server(6, in_steps)).word, Word::undecided);
}

TEST(Load, HalfADayOfSteadyGrowthIsALeak) {
  Noise noise(2);
  const Verdict verdict =
      judge(server(16, [&](double h) { return 2000 + 600 * h + 20 * noise(); }));
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_EQ(verdict.experiment.kind, FindingKind::try_same_requests_again);
}

TEST(Load, MemoryThatFollowsRequestsIsNoLeak) {
  Noise noise(3);
  plateau::Run run = server(6, [&](double h) { return 2000 + 4000 * morning(h) + 20 * noise(); });
  run = with_gauge(std::move(run), "requests",
                   [&](double h) { return 100 + 900 * morning(h) + 5 * noise(); });
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::plateau);
  ASSERT_FALSE(verdict.causes.empty());
  EXPECT_EQ(verdict.causes.front().name, "load");
}

TEST(Load, MemoryInProportionToAllRequestsSoFarIsALeakForEachRequest) {
  Noise noise(9);
  const auto served = [](double h) { return 40000 * h; };
  const plateau::Run run =
      with_gauge(server(6, [&](double h) { return 500 + 0.01 * served(h) + 5 * noise(); }),
                 "requests", served);
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::leak);
}

TEST(Load, CpuTimeOfARecordingTellsTheLoad) {
  Noise noise(4);
  double spent_s = 0;
  plateau::Run run = server(6, [&](double h) { return 2000 + 4000 * morning(h) + 20 * noise(); });
  run = with_gauge(std::move(run), "cpu_s",
                   [&](double h) { return spent_s += 60 * (0.1 + 1.5 * morning(h)); });
  EXPECT_NE(judge(run).word, Word::leak);
}

TEST(Load, LeakUnderVaryingLoadIsALeak) {
  Noise noise(5);
  plateau::Run run =
      server(6, [&](double h) { return 2000 + 600 * h + 300 * std::sin(4 * h) + 20 * noise(); });
  run = with_gauge(std::move(run), "connections",
                   [](double h) { return 600 + 300 * std::sin(4 * h); });
  EXPECT_EQ(judge(run).word, Word::leak);
}

TEST(Load, DailyWavesOverSomeDaysAreNoLeakAndALeakBeneathThemIsFound) {
  Noise noise(6);
  const auto wave = [&](double h) {
    return 4000 + 2000 * std::sin(2 * std::numbers::pi * h / 24) + 20 * noise();
  };
  EXPECT_NE(judge(server(96, wave)).word, Word::leak);
  EXPECT_EQ(judge(server(96, [&](double h) { return wave(h) + 20 * h; })).word, Word::leak);
}

TEST(Load, GrowthFarBeyondAnyCacheIsALeakWithinMinutes) {
  Noise noise(7);
  const plateau::Run run = server(0.2, [&](double h) { return 10 + 30 * 3600 * h + 5 * noise(); });
  EXPECT_EQ(judge(run).word, Word::leak);
}

// A small training job that keeps its decoded pictures does the same, and stops with its epoch.
TEST(Load, GrowthOfATrainingLoopMayBeItsData) {
  Noise noise(7);
  plateau::Run run = server(2, [&](double h) { return 100 + 20 * 60 * h + 5 * noise(); });
  for (size_t i = 0; i < run.instants.size(); ++i)
    run.instants[i].step = static_cast<int64_t>(i) + 1;
  EXPECT_EQ(judge(run).word, Word::undecided);
}

// What is used was worked out from what is free: nobody knows what was held before.
TEST(Load, GrowthFromAnUnknownLevelMayBeAnything) {
  const plateau::Run run = server(0.2, [](double h) { return 30 * 3600 * h; });
  EXPECT_EQ(judge(run).word, Word::undecided);
}

TEST(Load, AStatedMaximumIsWaitedFor) {
  Noise noise(8);
  plateau::Run run = server(0.2, [&](double h) { return 60 + 5 * 3600 * h + 5 * noise(); });
  run.command = "/usr/bin/java -Xmx8g -jar server.jar";
  EXPECT_EQ(judge(run).word, Word::undecided);
}

TEST(LargestCache, IsReadFromTheCommandLine) {
  const auto stated = [](std::string_view command) { return stated_maximum_mb(command, 32768); };
  EXPECT_EQ(stated("java -Xms1g -Xmx4g -jar a.jar"), 4096);
  EXPECT_EQ(stated("/usr/lib/jvm/bin/java -jar a.jar"), 8192);
  EXPECT_EQ(stated("node --max-old-space-size=2048 a.js"), 2048);
  EXPECT_EQ(stated("redis-server --maxmemory 2gb"), 2048);
  EXPECT_EQ(stated("memcached -m 1024"), 1024);
  EXPECT_EQ(stated("memcached"), 64);
  EXPECT_EQ(stated("python3 train.py -m 1024"), std::nullopt);
}

TEST(LargestCache, NonsenseOnACommandLineStatesNothing) {
  for (const std::string_view command :
       {"", " ", "a -Xmx", "a -Xmxg", "a -Xmx99999999999999999999", "a -Xmx0", "a -Xmx4q",
        "redis-server --maxmemory", "a --max-old-space-size=-5"}) {
    EXPECT_EQ(stated_maximum_mb(command, std::nullopt), std::nullopt) << command;
  }
}

}  // namespace
}  // namespace plateau
