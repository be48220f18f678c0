// SPDX-License-Identifier: Apache-2.0
#include "verdict/promise.h"

#include <gtest/gtest.h>

#include <functional>

#include "verdict/test_runs.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

using Curve = std::function<double(double)>;

Timeline epoch_of(double steps) {
  return {.epoch_steps = steps, .deadline = Policy().warmup_epochs * steps};
}

Decision decide_at(double step, double every, const Curve& curve, const Timeline& timeline) {
  std::vector<TimedValue> points;
  for (double at = every; at <= step; at += every) points.push_back({at, curve(at)});
  return decide(points, timeline, {}, 0);
}

TEST(Promise, IsKeptWhereTheCurveGoesOn) {
  size_t promised = 0, kept = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Noise noise(seed);
    std::vector<double> wobble;
    for (int i = 0; i < 2000; ++i) wobble.push_back(3 * noise());
    const double every = 2 + 3 * static_cast<double>(seed % 4);
    const Timeline timeline = epoch_of(60 + 20 * static_cast<double>(seed));
    const Curve leak = [&](double at) { return 500 + 2 * at + wobble[static_cast<size_t>(at)]; };
    for (double step = 40; step < timeline.deadline; step += 40) {
      const auto by = known_by(decide_at(step, every, leak, timeline), timeline);
      if (!by) continue;
      ++promised;
      kept += decide_at(*by, every, leak, timeline).word == Word::leak;
    }
  }
  EXPECT_GT(promised, 20U);
  EXPECT_GE(20 * kept, 19 * promised) << kept << " of " << promised;
}

TEST(Promise, FewSamplesTakeLonger) {
  const Timeline timeline = epoch_of(120);
  const Curve line = [](double at) { return 500 + 2 * at; };
  const auto often = known_by(decide_at(100, 2, line, timeline), timeline);
  const auto rarely = known_by(decide_at(100, 10, line, timeline), timeline);
  ASSERT_TRUE(often && rarely);
  EXPECT_LT(*often, 1.5 * timeline.deadline);
  // By the deadline there are 21 samples: no leak is believed to 80 % on so few.
  EXPECT_GT(*rarely, 1.4 * timeline.deadline);
}

TEST(Promise, IsMadeOfNoUnclearCurve) {
  Noise noise(4);
  const Timeline timeline = epoch_of(120);
  const Curve noisy = [&](double at) { return 500 + 0.3 * at + 60 * noise(); };
  EXPECT_FALSE(known_by(decide_at(100, 2, noisy, timeline), timeline));
}

TEST(Promise, IsMadeOfNothingThatIsDecided) {
  Timeline timeline = epoch_of(40);
  const Curve line = [](double at) { return 500 + 2 * at; };
  const Decision leak = decide_at(300, 2, line, timeline);
  ASSERT_EQ(leak.word, Word::leak);
  EXPECT_FALSE(known_by(leak, timeline));
}

TEST(Promise, ReachesNoFurtherThanThePlannedEnd) {
  Timeline timeline = epoch_of(120);
  const Curve line = [](double at) { return 500 + 2 * at; };
  const Decision open = decide_at(100, 2, line, timeline);
  ASSERT_TRUE(known_by(open, timeline));
  timeline.total_steps = *known_by(open, timeline) - 1;
  EXPECT_FALSE(known_by(open, timeline));
}

TEST(Promise, IsMadeOfNoLifeThatIsOver) {
  plateau::Run run = with_epoch(run_of(100, 2, [](double at) { return 500 + 2 * at; }), 120);
  ASSERT_TRUE(judge(run).known_by_step);
  // It is started anew, and the first life tells more than the few steps of the second.
  run.processes[0] = {.id = 7, .id_is_pid = true};
  run.processes.push_back({.id = 8, .id_is_pid = true});
  run.series.push_back({.process = 1, .metric = Metric::rss, .label = "rss"});
  run.series[1].mb.assign(run.instants.size(), kMissing);
  for (int64_t step = 102; step <= 110; step += 2) {
    run.instants.push_back({.step = step});
    run.series[0].mb.push_back(kMissing);
    run.series[1].mb.push_back(500);
  }
  const Verdict verdict = judge(run);
  ASSERT_EQ(verdict.lives.size(), 2U);
  ASSERT_TRUE(verdict.lives[0].judged);
  EXPECT_FALSE(verdict.known_by_step);
  EXPECT_FALSE(verdict.decides_at_step);
}

}  // namespace
}  // namespace plateau
