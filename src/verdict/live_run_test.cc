// SPDX-License-Identifier: Apache-2.0
// Recordings of live jobs: they begin before the work, end after it, and processes come and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "verdict/signal.h"
#include "verdict/test_runs.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

using testing::Contains;
using testing::Not;

// Samples every tenth of a second, as (step, MB); the job has ended unless told otherwise.
Run live(const std::vector<std::pair<int64_t, double>>& samples,
         Ending::Kind ending = Ending::Kind::exited) {
  Run run = run_of(samples, Metric::pss_anon);
  run.command = "python train.py";
  run.ending.kind = ending;
  for (size_t i = 0; i < run.instants.size(); ++i) {
    run.instants[i].time_s = 0.1 * static_cast<double>(i);
  }
  return run;
}

// Start-up from 2 to 50 MB at step 0, then 600 steps of `curve`, then an exit at step 600.
Run whole_job(const std::function<double(double)>& curve) {
  std::vector<std::pair<int64_t, double>> samples;
  for (int i = 0; i < 12; ++i) samples.emplace_back(0, 2 + 4 * i);
  for (int64_t step = 3; step <= 600; step += 3) {
    samples.emplace_back(step, curve(static_cast<double>(step)));
  }
  const double last = samples.back().second;
  for (const double share : {1.0, 0.7, 0.3, 0.02}) samples.emplace_back(600, share * last);
  return live(samples);
}

const Cause* cause_named(const Verdict& verdict, std::string_view name) {
  const auto found = std::find_if(verdict.causes.begin(), verdict.causes.end(),
                                  [name](const Cause& cause) { return cause.name == name; });
  return found == verdict.causes.end() ? nullptr : &*found;
}

std::vector<double> values(const Signals& signals) {
  std::vector<double> mb;
  for (const TimedValue& point : signals.components.at(0).points) mb.push_back(point.mb);
  return mb;
}

TEST(LiveRun, OnlySampleOfTheLastStepIsLeftOutIfItFellAsNeverBefore) {
  // A leak of 1 MB a step; the sample of the last step came late, when the loop had let go of it.
  std::vector<std::pair<int64_t, double>> samples = {{0, 2}};
  for (int64_t step = 1; step <= 74; ++step) samples.emplace_back(step, 222 + step);
  samples.emplace_back(75, 277);
  EXPECT_EQ(values(extract_signals(live(samples))).back(), 296);
  EXPECT_EQ(values(extract_signals(live(samples, Ending::Kind::unknown))).back(), 277);
  // One that falls as far now and then says nothing by it.
  samples[40].second -= 15;
  EXPECT_EQ(values(extract_signals(live(samples))).back(), 277);
}

TEST(LiveRun, WorkBeginsAfterTheStartUpWhichIsKeptApart) {
  const Signals signals =
      extract_signals(live({{0, 2}, {0, 20}, {0, 45}, {1, 50}, {2, 51}}, Ending::Kind::unknown));
  EXPECT_EQ(values(signals), (std::vector<double>{50, 51}));
  EXPECT_DOUBLE_EQ(signals.start_up_mb, 48);
}

TEST(LiveRun, JobThatHasNotFinishedAStepIsShownAsItIs) {
  const Signals signals = extract_signals(live({{0, 2}, {0, 20}}, Ending::Kind::unknown));
  EXPECT_FALSE(signals.components.empty());
}

TEST(LiveRun, LastStepIsTheStateRightAfterIt) {
  const Signals signals =
      extract_signals(live({{1, 50}, {2, 51}, {3, 52}, {3, 30}, {3, 2}}, Ending::Kind::unknown));
  EXPECT_DOUBLE_EQ(values(signals).back(), 52);
}

TEST(LiveRun, FallAtTheLastStepIsTheExitOnlyOfAJobThatEnded) {
  const std::vector<std::pair<int64_t, double>> samples = {{0, 1}, {1, 50}, {2, 51}, {3, 20}};
  EXPECT_DOUBLE_EQ(values(extract_signals(live(samples))).back(), 51);
  EXPECT_DOUBLE_EQ(values(extract_signals(live(samples, Ending::Kind::unknown))).back(), 20);
}

TEST(LiveRun, WithoutStepsTheLastMomentsMayBeTheExit) {
  std::vector<std::pair<int64_t, double>> samples(60, {-1, 50.0});
  for (const double mb : {40.0, 20.0, 1.0}) samples.emplace_back(-1, mb);
  EXPECT_DOUBLE_EQ(values(extract_signals(live(samples))).back(), 50);
  EXPECT_DOUBLE_EQ(values(extract_signals(live(samples, Ending::Kind::left))).back(), 1);
  // Given back long before the end, it is no exit.
  samples.insert(samples.end(), 60, {-1, 1.0});
  EXPECT_DOUBLE_EQ(values(extract_signals(live(samples))).back(), 1);
}

TEST(LiveRun, AnInterpreterMayTakeSecondsToGiveBackWhatItHas) {
  plateau::Run run;
  run.command = "train";
  run.ending.kind = Ending::Kind::exited;
  run.processes.push_back({.id = 1});
  Series owned{.process = 0, .metric = Metric::pss_anon, .label = "", .mb = {}};
  for (int i = 0; i < 660; ++i) {
    run.instants.push_back({.step = -1, .time_s = 0.1 * i});
    owned.mb.push_back(i < 620 ? 2 + 0.25 * i : 104);  // The last 4 s: half of it is gone.
  }
  run.series.push_back(std::move(owned));
  EXPECT_NEAR(values(extract_signals(run)).back(), 157, 1);
}

TEST(LiveRun, ProcessThatIsMissingForOneInstantKeepsItsMemory) {
  plateau::Run run = live({{1, 50}, {2, 50}, {3, 50}, {4, 50}, {5, 50}}, Ending::Kind::unknown);
  run.processes.push_back({.id = 2});
  run.series.push_back({.process = 1,
                        .metric = Metric::pss_anon,
                        .label = "",
                        .mb = {30, 30, kMissing, 31, kMissing}});
  const Signals signals = extract_signals(run);
  EXPECT_EQ(values(signals), (std::vector<double>{80, 80, 81, 50}));
}

TEST(LiveRun, LeakIsALeakWhateverTheExitGivesBack) {
  plateau::Run run = whole_job([](double t) { return 50 + 0.2 * t; });
  run.context.epoch_steps = Fact{150, "test"};
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_NEAR(verdict.last_mb, 170, 1);
}

TEST(LiveRun, LevelJobIsToldItsStartUpAsAGuess) {
  const Verdict verdict = judge(whole_job([](double) { return 80.0; }));
  EXPECT_EQ(verdict.word, Word::plateau);
  const Cause* cause = cause_named(verdict, "start-up-state");
  ASSERT_NE(cause, nullptr);
  EXPECT_LT(cause->weight, 0.5);
  EXPECT_NEAR(cause->evidence.number("growth_mb")->value, 78, 1);
}

TEST(LiveRun, LevelJobWithASmallStartUpHasNoCause) {
  const Verdict verdict = judge(whole_job([](double) { return 20.0; }));
  EXPECT_EQ(verdict.word, Word::plateau);
  EXPECT_TRUE(verdict.causes.empty());
}

TEST(LiveRun, RisingObjectsAreNamedAndTimesAndSizesAreNoCounts) {
  plateau::Run run = whole_job([](double t) { return 50 + 0.2 * t; });
  run.context.epoch_steps = Fact{150, "test"};
  for (const char* name :
       {"cpu_s", "cgroup.anon_mb", "gc.objects", "plateau.cpu_s", "plateau.walk_share"}) {
    Gauge gauge{.name = name, .process = 0, .value = {}};
    for (size_t i = 0; i < run.instants.size(); ++i) {
      gauge.value.push_back(1000 + 100 * static_cast<double>(i));
    }
    run.gauges.push_back(gauge);
  }
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.causes.at(0).name, "python-objects");
  const Finding& cause = verdict.causes.at(0).evidence;
  EXPECT_EQ(cause.kind, FindingKind::objects_accumulate);
  EXPECT_EQ(cause.named("counted")->text, "gc.objects");
  EXPECT_TRUE(found(verdict.evidence, FindingKind::objects_accumulate));
  EXPECT_FALSE(found(verdict.evidence, FindingKind::objects_steady));
}

// Three workers are forked in the first steps and copy the list bit by bit; then all of them end.
TEST(LiveRun, CopyOnWriteIsSeenThoughWorkersComeLateAndLeaveEarly) {
  plateau::Run run = whole_job([](double) { return 90.0; });
  run.context.epoch_steps = Fact{150, "test"};
  run.series.push_back(run.series[0]);
  run.series.back().metric = Metric::rss;
  for (size_t worker = 1; worker <= 3; ++worker) {
    run.processes.push_back({.id = static_cast<int64_t>(worker) + 1, .role = Role::data_worker});
    Series owned{.process = worker, .metric = Metric::pss_anon, .label = "", .mb = {}};
    Series rss{.process = worker, .metric = Metric::rss, .label = "", .mb = {}};
    for (const Instant& at : run.instants) {
      const bool alive = at.step > 10 && at.step < 597;
      const double copied = 85 * (1 - std::exp(-static_cast<double>(at.step) / 60));
      owned.mb.push_back(alive ? copied : kMissing);
      rss.mb.push_back(alive ? 90 : kMissing);
    }
    run.series.push_back(owned);
    run.series.push_back(rss);
  }
  const Verdict verdict = judge(run);
  EXPECT_NE(verdict.word, Word::leak);
  EXPECT_EQ(verdict.causes.at(0).name, "copy-on-write");
}

TEST(LiveRun, HistoryThatIsDroppedAtEachEpochIsLevelAndASaw) {
  plateau::Run run = whole_job([](double t) { return 50 + 0.3 * std::fmod(t, 100); });
  run.context.epoch_steps = Fact{100, "test"};
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::plateau);
  EXPECT_EQ(verdict.causes.at(0).name, "sawtooth");
}

}  // namespace
}  // namespace plateau
