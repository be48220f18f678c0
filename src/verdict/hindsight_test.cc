// SPDX-License-Identifier: Apache-2.0
#include "verdict/hindsight.h"

#include <gtest/gtest.h>

#include <cmath>

#include "verdict/test_runs.h"

namespace plateau {
namespace {

// Several processes with many columns, gaps, a late starter, times and events: all that a prefix
// may cut through.
Run busy_run(size_t instants) {
  Noise noise(3);
  Run run;
  run.source = "busy";
  run.command = "train";
  run.context.examples = Fact{800, "test"};
  run.context.batch = Fact{8, "test"};
  run.context.limit_mb = Fact{9000, "test"};
  run.context.total_steps = Fact{2000, "test"};
  run.ending = {.kind = Ending::Kind::exited, .code = 0, .text = ""};
  for (size_t i = 0; i < instants; ++i) {
    run.instants.push_back({.step = static_cast<int64_t>(i < 4 ? 0 : (i - 3) * 2),
                            .time_s = 5.0 * static_cast<double>(i)});
    if (i % 40 == 39) run.events.push_back({i, EventKind::eval, "eval"});
  }
  for (size_t p = 0; p < 4; ++p) {
    run.processes.push_back({.id = static_cast<int64_t>(100 + p), .id_is_pid = true, .name = "p"});
    for (const Metric metric : {Metric::rss, Metric::pss, Metric::pss_anon, Metric::shmem,
                                Metric::swap, Metric::file, Metric::pss_shmem}) {
      Series series{.process = p, .metric = metric, .label = "column", .mb = {}};
      for (size_t i = 0; i < instants; ++i) {
        const bool away = (p == 3 && i < 20) || (i % 17 == p);
        const auto t = static_cast<double>(i);
        const double fill = p == 1 ? 15 * std::min(t, 60.0) : 0;
        series.mb.push_back(away ? kMissing : 400 + fill + 3 * noise());
      }
      run.series.push_back(std::move(series));
    }
    Gauge threads{.name = "threads", .process = p, .value = {}};
    for (size_t i = 0; i < instants; ++i) threads.value.push_back(4 + static_cast<double>(i / 50));
    run.gauges.push_back(std::move(threads));
  }
  return run;
}

void expect_same(const Verdict& a, const Verdict& b) {
  EXPECT_EQ(a.word, b.word);
  EXPECT_EQ(a.confidence, b.confidence);
  EXPECT_EQ(a.component, b.component);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.last_step, b.last_step);
  EXPECT_EQ(a.last_mb, b.last_mb);
  EXPECT_EQ(a.rate_mb_per_step, b.rate_mb_per_step);
  EXPECT_EQ(a.risk.oom, b.risk.oom);
  EXPECT_EQ(a.evidence, b.evidence);
  EXPECT_EQ(a.warnings, b.warnings);
  ASSERT_EQ(a.components.size(), b.components.size());
  for (size_t i = 0; i < a.components.size(); ++i) {
    EXPECT_EQ(a.components[i].last_mb, b.components[i].last_mb) << a.components[i].name;
    EXPECT_EQ(a.components[i].confidence, b.components[i].confidence) << a.components[i].name;
  }
  ASSERT_EQ(a.explanations.size(), b.explanations.size());
  for (size_t i = 0; i < a.explanations.size(); ++i) {
    EXPECT_EQ(a.explanations[i].name, b.explanations[i].name);
    EXPECT_EQ(a.explanations[i].weight, b.explanations[i].weight);
  }
  ASSERT_EQ(a.processes.size(), b.processes.size());
  for (size_t i = 0; i < a.processes.size(); ++i) {
    EXPECT_EQ(a.processes[i].id, b.processes[i].id);
    EXPECT_EQ(a.processes[i].growth_mb, b.processes[i].growth_mb);
  }
  ASSERT_EQ(a.causes.size(), b.causes.size());
  for (size_t i = 0; i < a.causes.size(); ++i) {
    EXPECT_EQ(a.causes[i].name, b.causes[i].name);
    EXPECT_EQ(a.causes[i].weight, b.causes[i].weight);
    EXPECT_EQ(a.causes[i].evidence, b.causes[i].evidence);
  }
}

TEST(Hindsight, EveryMomentIsTheVerdictOnThatPrefix) {
  const plateau::Run run = busy_run(60);
  const std::vector<Verdict> moments = hindsight(run, 100);
  ASSERT_EQ(moments.size(), 58u);  // From the third instant on.
  for (size_t i = 0; i < moments.size(); ++i) {
    SCOPED_TRACE(i + 3);
    expect_same(moments[i], judge(prefix_of(run, i + 3)));
  }
}

TEST(Hindsight, TheLastMomentIsTheWholeRunWithItsEnding) {
  const plateau::Run run = busy_run(400);
  const std::vector<Verdict> moments = hindsight(run, 20);
  ASSERT_LE(moments.size(), 20u);
  expect_same(moments.back(), judge(run));
}

TEST(Hindsight, AChangeOfTheWordIsPinnedToOneSample) {
  const plateau::Run run = with_epoch(
      run_of(3000, 1, [](double step) { return 1000 + 2 * std::min(step, 900.0); }), 900);
  const std::vector<Verdict> moments = hindsight(run, 60);
  ASSERT_EQ(moments.back().word, Word::plateau);
  EXPECT_LE(moments.size(), 60u);
  const double knew = knew_at(moments).value_or(-1);
  ASSERT_GT(knew, 900);
  const auto count = static_cast<size_t>(knew);  // One sample per step, from step 1 on.
  EXPECT_EQ(judge(prefix_of(run, count)).word, Word::plateau);
  EXPECT_NE(judge(prefix_of(run, count - 1)).word, Word::plateau);
}

TEST(Hindsight, MomentsAreBoundedAndInOrder) {
  const plateau::Run run = busy_run(300);
  for (const size_t most : {0u, 1u, 2u, 7u, 40u}) {
    const std::vector<Verdict> moments = hindsight(run, most);
    ASSERT_FALSE(moments.empty());
    EXPECT_LE(moments.size(), std::max<size_t>(most, 1));
    for (size_t i = 1; i < moments.size(); ++i) {
      EXPECT_GE(moments[i].last_step, moments[i - 1].last_step);
    }
  }
}

TEST(Hindsight, ALookAtALongerRunJudgesOnlyWhatIsNew) {
  const plateau::Run run = busy_run(520);
  PrefixVerdicts known;
  hindsight(prefix_of(run, 500), 40, {}, &known);
  known.erase(500);
  const PrefixVerdicts before = known;
  const std::vector<Verdict> again = hindsight(run, 40, {}, &known);
  const std::vector<Verdict> fresh = hindsight(run, 40);
  ASSERT_EQ(again.size(), fresh.size());
  for (size_t i = 0; i < again.size(); ++i) expect_same(again[i], fresh[i]);
  size_t judged = 0;
  for (const auto& [count, verdict] : known) judged += before.contains(count) ? 0 : 1;
  EXPECT_LE(judged, 2u);
}

TEST(Hindsight, AnEmptyRunHasOneMoment) {
  const std::vector<Verdict> moments = hindsight(plateau::Run{}, 10);
  ASSERT_EQ(moments.size(), 1u);
  EXPECT_EQ(moments[0].word, Word::undecided);
  EXPECT_FALSE(knew_at(moments));
}

TEST(LookAhead, TheBandOfALeakHoldsItsContinuation) {
  Noise noise(1);
  const plateau::Run run = run_of(2000, 10, [&](double step) { return 1000 + step + 2 * noise(); });
  const Fan fan = judge_ahead(run).ahead;
  ASSERT_EQ(fan.band.size(), 60u);
  EXPECT_EQ(fan.band.front().at, 2000);
  EXPECT_NEAR(fan.band.back().at, 2000 + 1990.0 / 3, 1);
  for (const FanPoint& point : fan.band) {
    EXPECT_LE(point.low_mb, point.mid_mb);
    EXPECT_LE(point.mid_mb, point.high_mb);
    EXPECT_NEAR(point.mid_mb, 1000 + point.at, 30);
  }
  ASSERT_EQ(fan.paths.size(), 1u);
  EXPECT_EQ(fan.paths[0].name, judge(run).explanations.front().name);
}

TEST(LookAhead, AnUndecidedRunOpensUpWhereItsExplanationsPart) {
  plateau::Run run = with_production_context(run_of(production_run1()));
  run.context.total_steps = Fact{240, "test"};
  const Fan fan = judge_ahead(run).ahead;
  ASSERT_EQ(fan.band.size(), 60u);
  EXPECT_EQ(fan.band.back().at, 130);  // No farther than the run is long: 70 + (70 - 10).
  const auto width = [](const FanPoint& of) { return of.high_mb - of.low_mb; };
  EXPECT_GT(width(fan.band.back()), 4 * width(fan.band.front()));
  const Verdict verdict = judge(run);
  ASSERT_TRUE(verdict.forecast);
  EXPECT_LT(fan.band.back().low_mb, verdict.forecast->range.high);
  EXPECT_GT(fan.band.back().high_mb, verdict.forecast->plateau_mb);
  ASSERT_EQ(fan.paths.size(), 2u);
  for (const FanPath& path : fan.paths) {
    EXPECT_EQ(path.points.front().step, 70);
    EXPECT_EQ(path.points.back().step, 130);
  }
}

TEST(LookAhead, AWarmUpEndsWhereTheVerdictForeseesIt) {
  plateau::Run run = with_epoch(
      run_of(1000, 5, [](double step) { return 2000 + 1000 * (1 - std::exp(-step / 600)); }), 4000);
  run.context.total_steps = Fact{2000, "test"};
  const Verdict verdict = judge(run);
  ASSERT_EQ(verdict.word, Word::warming);
  ASSERT_TRUE(verdict.forecast);
  const Fan fan = judge_ahead(run).ahead;
  ASSERT_FALSE(fan.band.empty());
  EXPECT_LE(fan.band.back().mid_mb, verdict.forecast->range.high);
}

TEST(LookAhead, ASettledRunAndAShortOneHaveNothingToForesee) {
  EXPECT_TRUE(judge_ahead(with_production_context(run_of(production_run2()))).ahead.band.empty());
  EXPECT_TRUE(judge_ahead(run_of({{1, 10}, {2, 20}, {3, 30}})).ahead.band.empty());
  EXPECT_TRUE(judge_ahead(plateau::Run{}).ahead.band.empty());
}

TEST(PlannedEnd, IsForetoldByTheMedianOfTheBand) {
  plateau::Run run = with_production_context(run_of(production_run1()));
  run.context.total_steps = Fact{120, "test"};
  const Fan fan = judge_ahead(run).ahead;
  ASSERT_EQ(fan.band.back().at, 120);
  EXPECT_DOUBLE_EQ(judge(run).forecast_at_total_steps_mb.value(), fan.band.back().mid_mb);
}

TEST(PlannedEnd, OfALeakLiesOnItsContinuationHoweverFar) {
  Noise noise(2);
  plateau::Run run = run_of(1000, 5, [&](double step) { return 1000 + step + 2 * noise(); });
  run.context.total_steps = Fact{10'000, "test"};
  EXPECT_NEAR(judge(run).forecast_at_total_steps_mb.value(), 11'000, 200);
}

TEST(PlannedEnd, OfALevelRunIsItsLevel) {
  plateau::Run run = with_production_context(run_of(production_run2()));
  run.context.total_steps = Fact{400, "test"};
  const Verdict verdict = judge(run);
  ASSERT_EQ(verdict.word, Word::plateau);
  EXPECT_NEAR(verdict.forecast_at_total_steps_mb.value(), verdict.settled->mb, 500);
}

TEST(PlannedEnd, ThatIsPastUnknownOrTooSoonIsNotForetold) {
  plateau::Run run = with_production_context(run_of(production_run2()));
  EXPECT_FALSE(judge(run).forecast_at_total_steps_mb);
  run.context.total_steps = Fact{240, "test"};
  EXPECT_FALSE(judge(run).forecast_at_total_steps_mb);
  run = run_of({{1, 10}, {2, 20}, {3, 30}});
  run.context.total_steps = Fact{100, "test"};
  EXPECT_FALSE(judge(run).forecast_at_total_steps_mb);
}

}  // namespace
}  // namespace plateau
