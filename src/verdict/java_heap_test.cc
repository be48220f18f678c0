// SPDX-License-Identifier: Apache-2.0
// The heap of a JVM beside the memory of its process, from the counters to the verdict.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "verdict/signal.h"
#include "verdict/test_runs.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

// A process at a level of 300 MB, whose heap is collected every `every` steps and repeats until
// then what the last collection left.
Run jvm(int64_t steps, int64_t every, const std::function<double(double)>& left_mb) {
  Run run = run_of(steps, 1, [](double) { return 300; });
  run.series[0].metric = Metric::anon;
  Series heap{.process = 0, .metric = Metric::java_heap, .label = ""};
  Gauge collections{.name = std::string(kJavaCollections), .process = 0, .value = {}};
  Gauge most{.name = std::string(kJavaHeapLimit), .process = 0, .value = {}};
  for (int64_t step = 1; step <= steps; ++step) {
    const int64_t count = step / every;
    heap.mb.push_back(count > 0 ? left_mb(static_cast<double>(count * every)) : kMissing);
    collections.value.push_back(count > 0 ? static_cast<double>(count) : kMissing);
    most.value.push_back(400);
  }
  run.series.push_back(std::move(heap));
  run.gauges = {std::move(collections), std::move(most)};
  return run;
}

TEST(JavaHeap, EachCollectionIsOneReadingHoweverOftenItIsRepeated) {
  const Signals signals = extract_signals(jvm(1000, 50, [](double step) { return 50 + step; }));
  ASSERT_EQ(signals.components.size(), 2U);
  const std::vector<TimedValue>& points = signals.components[1].points;
  ASSERT_EQ(points.size(), 20U);
  EXPECT_DOUBLE_EQ(points[0].at, 50);
  EXPECT_DOUBLE_EQ(points[0].mb, 100);
  EXPECT_DOUBLE_EQ(points[19].mb, 1050);
}

TEST(JavaHeap, WhatGrowsBeneathALevelProcessIsALeak) {
  Noise noise(1);
  const Verdict verdict =
      judge(jvm(1200, 20, [&](double step) { return 80 + 0.1 * step + noise(); }));
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_EQ(verdict.component, "java_heap");
  ASSERT_FALSE(verdict.causes.empty());
  EXPECT_EQ(verdict.causes[0].name, "java-heap");
  EXPECT_NEAR(verdict.rate_mb_per_step, 0.1, 0.01);
}

TEST(JavaHeap, ItsLimitIsTheHeapsOwnAndNotTheMachines) {
  Noise noise(1);
  plateau::Run run = jvm(1200, 20, [&](double step) { return 80 + 0.1 * step + noise(); });
  run.context.limit_mb = Fact{25000, "the memory of this machine"};
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.risk.limit_mb, 400);
  ASSERT_TRUE(verdict.risk.at_step);
  EXPECT_NEAR(*verdict.risk.at_step, 3200, 320);
}

TEST(JavaHeap, AFewCollectionsAccuseNobody) {
  const Verdict verdict = judge(jvm(1200, 120, [](double step) { return 80 + 0.1 * step; }));
  EXPECT_NE(verdict.word, Word::leak);
}

TEST(JavaHeap, GarbageThatIsCollectedLeavesTheVerdictToTheProcess) {
  Noise noise(2);
  const Verdict verdict = judge(jvm(1200, 20, [&](double) { return 80 + 3 * noise(); }));
  EXPECT_EQ(verdict.word, Word::plateau);
  EXPECT_EQ(verdict.component, "owned");
}

// Two of them, collected at different moments: a reading of one is a reading of the sum.
TEST(JavaHeap, TheHeapsOfATreeAddUp) {
  plateau::Run run = jvm(600, 20, [](double) { return 80; });
  plateau::Run other = jvm(600, 30, [](double) { return 40; });
  run.processes.push_back({.id = 1});
  for (Series& series : other.series) run.series.push_back(series);
  for (Gauge& gauge : other.gauges) run.gauges.push_back(gauge);
  for (size_t i = 2; i < run.series.size(); ++i) run.series[i].process = 1;
  for (size_t i = 2; i < run.gauges.size(); ++i) run.gauges[i].process = 1;
  const Signals signals = extract_signals(run);
  ASSERT_EQ(signals.components.size(), 2U);
  const Component& heap = signals.components[1];
  EXPECT_DOUBLE_EQ(heap.points.back().mb, 120);
  EXPECT_EQ(heap.limit_mb, 800);
  for (size_t i = 1; i < heap.points.size(); ++i) EXPECT_DOUBLE_EQ(heap.points[i].mb, 120);
}

}  // namespace
}  // namespace plateau
