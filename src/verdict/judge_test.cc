// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "verdict/test_runs.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

TEST(Judge, ProductionRunStoppedAtStep70IsNeverDecided) {
  for (const Verdict& verdict : replay(with_production_context(run_of(production_run1())), {}, 1)) {
    EXPECT_EQ(verdict.word, Word::undecided) << "at step " << verdict.last_step;
  }
}

TEST(Judge, ProductionRunForecastsItsPlateauFromStep40On) {
  for (const Verdict& verdict : replay(with_production_context(run_of(production_run1())), {}, 4)) {
    ASSERT_TRUE(verdict.forecast) << "at step " << verdict.last_step;
    EXPECT_NEAR(verdict.forecast->plateau_mb, 17700, 0.05 * 17700);
  }
}

TEST(Judge, ProductionRunStoppedAtStep70SaysWhatIsTiedAndWhenItWillKnow) {
  plateau::Run run = with_production_context(run_of(production_run1()));
  run.context.limit_mb = Fact{32000, "--limit"};
  const Verdict verdict = judge(run);
  const Finding& because = verdict.undecided_because;
  EXPECT_EQ(because.kind, FindingKind::two_camps_fit);
  EXPECT_EQ(because.named("bounded")->text, "still-filling");
  EXPECT_EQ(because.named("unbounded")->text, "linear");
  EXPECT_EQ(because.number("limit_mb")->value, 32000);
  EXPECT_GT(because.number("limit_step")->value, 83);
  ASSERT_TRUE(verdict.decides_at_step);
  EXPECT_GT(*verdict.decides_at_step, 83);
  EXPECT_LE(*verdict.decides_at_step, 146);
  EXPECT_EQ(verdict.experiment.kind, FindingKind::try_same_batches_twice);
}

TEST(Judge, WithoutTheEpochItSaysWhatInformationIsMissing) {
  const Verdict verdict = judge(run_of(production_run1()));
  EXPECT_EQ(verdict.word, Word::undecided);
  EXPECT_EQ(verdict.missing.kind, FindingKind::pass_length_missing);
}

TEST(Judge, ProductionRunThatWentOnIsAPerExampleCache) {
  const Verdict verdict = judge(with_production_context(run_of(production_run2())));
  EXPECT_EQ(verdict.word, Word::plateau);
  EXPECT_GE(verdict.confidence, 0.95);
  ASSERT_TRUE(verdict.settled);
  EXPECT_GE(verdict.settled->step, 80);
  EXPECT_LE(verdict.settled->step, 90);
  ASSERT_FALSE(verdict.causes.empty());
  EXPECT_EQ(verdict.causes[0].name, "per-example-cache");
  EXPECT_NEAR(*verdict.mb_per_example, 20.9, 0.1);
  EXPECT_NEAR(verdict.rate_mb_per_step, 168, 1);
  EXPECT_EQ(
      found(verdict.evidence, FindingKind::stopped_with_first_pass)->number("epoch_steps")->value,
      83);
  EXPECT_TRUE(found(verdict.evidence, FindingKind::did_not_slow));
}

TEST(Judge, ProductionRunIsDecidedFromStep110On) {
  for (const Verdict& verdict :
       replay(with_production_context(run_of(production_run2())), {}, 11)) {
    EXPECT_EQ(verdict.word, Word::plateau) << "at step " << verdict.last_step;
  }
}

TEST(Judge, BatchAndStreamingAgreeOnEveryPrefix) {
  const plateau::Run run = with_production_context(run_of(production_run2()));
  const std::vector<Verdict> streamed = replay(run, {}, 1);
  for (size_t i = 0; i < streamed.size(); ++i) {
    const Verdict batch = judge(prefix_of(run, i + 1));
    EXPECT_EQ(batch.word, streamed[i].word);
    EXPECT_DOUBLE_EQ(batch.confidence, streamed[i].confidence);
    EXPECT_EQ(batch.evidence, streamed[i].evidence);
  }
}

TEST(Judge, SlowLeakUnderValidationSpikesIsFound) {
  Noise noise(1);
  plateau::Run run = with_epoch(run_of(400, 2,
                                       [&](double t) {
                                         const bool spike = std::fmod(t, 50) < 2;
                                         return 3000 + 0.5 * t + (spike ? 4000 : 0) + 2 * noise();
                                       }),
                                80);
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_NEAR(verdict.rate_mb_per_step, 0.5, 0.1);
}

TEST(Judge, SpikesAloneAreAPlateauAndReportedAsSpikes) {
  Noise noise(2);
  plateau::Run run = with_epoch(
      run_of(400, 2,
             [&](double t) { return 3000 + (std::fmod(t, 50) < 2 ? 4000 : 0) + 2 * noise(); }),
      80);
  for (size_t i = 0; i < run.instants.size(); ++i) {
    if (run.instants[i].step % 50 == 0) run.events.push_back({i, EventKind::eval, "eval"});
  }
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::plateau);
  EXPECT_EQ(verdict.spikes.count, 8u);
  EXPECT_NEAR(verdict.spikes.height_mb, 4000, 50);
  EXPECT_EQ(verdict.spikes.at_events, "evaluations");
}

TEST(Judge, ChildThatLeaksUnderAFlatParentIsNamed) {
  plateau::Run run;
  run.processes = {{.id = 100, .id_is_pid = true, .name = "train.py", .role = Role::main},
                   {.id = 101, .parent = 100, .id_is_pid = true, .name = "loader"}};
  Series parent{.process = 0, .metric = Metric::pss, .label = "pss", .mb = {}};
  Series child{.process = 1, .metric = Metric::pss, .label = "pss", .mb = {}};
  for (int64_t step = 1; step <= 300; ++step) {
    run.instants.push_back({.step = step});
    parent.mb.push_back(2000);
    child.mb.push_back(100 + 0.5 * static_cast<double>(step));
  }
  run.series = {parent, child};
  const Verdict verdict = judge(with_epoch(run, 60));
  EXPECT_EQ(verdict.word, Word::leak);
  ASSERT_TRUE(verdict.process);
  EXPECT_EQ(verdict.process->name, "loader");
  EXPECT_GT(verdict.process->share, 0.95);
}

TEST(Judge, FileBackedGrowthIsReclaimableAndNoLeak) {
  plateau::Run run = with_epoch(run_of(300, 2, [](double) { return 500.0; }), 60);
  run.series[0].metric = Metric::anon;
  Series file{.process = 0, .metric = Metric::file, .label = "file", .mb = {}};
  for (const Instant& at : run.instants) file.mb.push_back(10.0 + static_cast<double>(at.step));
  run.series.push_back(file);
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::plateau);
  EXPECT_TRUE(found(verdict.evidence, FindingKind::file_pages_grew));
  ASSERT_FALSE(verdict.causes.empty());
  EXPECT_EQ(verdict.causes[0].name, "file-backed-pages");
}

TEST(Judge, SharedMemoryLeakDecidesThoughOwnedMemoryIsFlat) {
  plateau::Run run = with_epoch(run_of(300, 2, [](double) { return 500.0; }), 60);
  Series shmem{.process = 0, .metric = Metric::shmem, .label = "shmem", .mb = {}};
  for (const Instant& at : run.instants) shmem.mb.push_back(static_cast<double>(at.step));
  run.series.push_back(shmem);
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_EQ(verdict.component, "shmem");
}

TEST(Judge, PagesMovingToSwapAreShownApartAndAreNoLeak) {
  plateau::Run run = with_epoch(run_of(300, 2, [](double t) { return 900 - t; }), 60);
  run.series[0].metric = Metric::anon;
  Series swap{.process = 0, .metric = Metric::swap, .label = "swap", .mb = {}};
  for (const Instant& at : run.instants) swap.mb.push_back(static_cast<double>(at.step));
  run.series.push_back(swap);
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::plateau);
  EXPECT_EQ(verdict.component, "owned");
  ASSERT_EQ(verdict.components.size(), 2u);
  EXPECT_EQ(verdict.components[1].name, "swap");
}

TEST(Judge, SteadyTensorsAreSaidNotToBeTheCause) {
  plateau::Run run = with_production_context(run_of(production_run2()));
  Gauge tensors{.name = "tensors", .process = 0, .value = {}};
  tensors.value.assign(run.instants.size(), 6529);
  run.gauges.push_back(tensors);
  const Verdict verdict = judge(run);
  const Finding* steady = found(verdict.evidence, FindingKind::objects_steady);
  ASSERT_TRUE(steady);
  EXPECT_EQ(steady->named("counted")->text, "tensors");
  EXPECT_EQ(steady->number("last")->value, 6529);
}

TEST(Judge, ThreadsThatMultiplyDoNotExplainGrowthThatEndedWithTheEpoch) {
  Noise noise(3);
  plateau::Run run = with_epoch(
      run_of(200, 2, [&](double t) { return 500 + 5 * std::min(t, 60.0) + noise(); }), 60);
  Gauge threads{.name = "threads", .process = 0, .value = {}};
  for (size_t i = 0; i < run.instants.size(); ++i) {
    threads.value.push_back(10 + static_cast<double>(i / 10));
  }
  run.gauges.push_back(threads);
  const Verdict verdict = judge(run);
  ASSERT_EQ(verdict.word, Word::plateau);
  ASSERT_FALSE(verdict.causes.empty());
  EXPECT_EQ(verdict.causes[0].name, "per-example-cache");
}

TEST(Judge, LeakSaysWhenALimitIsReached) {
  Noise noise(3);
  plateau::Run run =
      with_epoch(run_of(300, 2, [&](double t) { return 1000 + 10 * t + 5 * noise(); }), 60);
  run.context.limit_mb = Fact{8000, "--limit"};
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::leak);
  ASSERT_TRUE(verdict.risk.at_step);
  EXPECT_NEAR(*verdict.risk.at_step, 700, 20);
  EXPECT_FALSE(verdict.risk.oom) << "nobody knows when the run ends";
  run.context.total_steps = Fact{900, "--total-steps"};
  EXPECT_NEAR(judge(run).risk.oom.value(), verdict.confidence, 0.01) << "as likely as the leak";
  run.context.total_steps = Fact{400, "--total-steps"};
  EXPECT_LT(judge(run).risk.oom.value(), 0.05);
}

TEST(Judge, ALimitIsPassedNoMoreExactlyThanTheRateIsKnown) {
  Noise noise(3);
  plateau::Run run =
      with_epoch(run_of(300, 2, [&](double t) { return 1000 + t + 5 * noise(); }), 60);
  run.context.limit_mb = Fact{8000, "--limit"};
  const Verdict verdict = judge(run);
  ASSERT_EQ(verdict.word, Word::leak);
  ASSERT_TRUE(verdict.risk.at_step_range);
  const double to_go = *verdict.risk.at_step - verdict.last_step;
  const double rate = verdict.rate_mb_per_step;
  EXPECT_LE(verdict.risk.at_step_range->low - verdict.last_step,
            1.01 * to_go * rate / verdict.rate_range.high);
  EXPECT_GE(verdict.risk.at_step_range->high - verdict.last_step,
            0.99 * to_go * rate / verdict.rate_range.low);
}

TEST(Judge, WhatIsSaidToEndPassesNoLimitByGoingOn) {
  Noise noise(7);
  for (const double rise : {0.0, 150.0}) {
    plateau::Run run = run_of(
        200, 1, [&](double t) { return 4000 + rise * (1 - std::exp(-t / 30)) + 30 * noise(); });
    run.context.limit_mb = Fact{33600, "--limit"};
    const Verdict verdict = judge(run);
    ASSERT_EQ(verdict.word, Word::plateau);
    EXPECT_FALSE(verdict.risk.at_step) << rise;
  }
}

TEST(Judge, TenStepsOfVisibleGrowthAreNoAllClear) {
  Noise noise(5);
  for (const int64_t samples : {10, 12, 14}) {
    const plateau::Run run =
        run_of(samples, 1, [&](double t) { return 500 + 0.4 * t + 0.3 * noise(); });
    EXPECT_EQ(judge(run).word, Word::undecided) << samples;
  }
}

// A server that a recording has watched, a sample a second.
plateau::Run watched(const std::string& name, double seconds) {
  plateau::Run run;
  run.command = name;
  run.processes = {{.id = 7, .id_is_pid = true, .name = name, .role = Role::main}};
  Series series{.process = 0, .metric = Metric::rss, .label = "rss", .mb = {}};
  Gauge cpu{.name = "cpu_s", .process = 0, .value = {}};
  for (double t = 0; t < seconds; ++t) {
    run.instants.push_back({.time_s = t});
    series.mb.push_back(10 + 2 * t);
    cpu.value.push_back(0.1 * t);
  }
  run.series = {series};
  run.gauges = {cpu};
  run.context.limit_mb = Fact{25300, "the memory of this machine"};
  return run;
}

TEST(Judge, AServerIsToldNothingOfPythonNorOfSteps) {
  const auto has = [](const Verdict& verdict, std::string_view cause) {
    return std::ranges::any_of(verdict.causes, [&](const Cause& of) { return of.name == cause; });
  };
  const Verdict redis = judge(watched("redis-server", 150));
  EXPECT_EQ(redis.word, Word::undecided);
  EXPECT_FALSE(has(redis, "python-objects"));
  EXPECT_EQ(redis.missing.kind, FindingKind::longer_run_missing);
  EXPECT_DOUBLE_EQ(redis.missing.number("beyond_mb")->value, 25300.0 / 16);
  EXPECT_EQ(redis.experiment.kind, FindingKind::try_same_requests_again);
  const Verdict python = judge(watched("python service.py", 150));
  EXPECT_TRUE(has(python, "python-objects"));
  EXPECT_EQ(python.missing.kind, FindingKind::steps_missing);
}

TEST(Judge, OneThreadMoreIsNoThreadsThatMultiply) {
  plateau::Run run = watched("redis-server", 150);
  const auto blames_threads = [&](double more) {
    Gauge threads{.name = "threads", .process = 0, .value = {}};
    for (const Instant& instant : run.instants) {
      threads.value.push_back(1 + std::floor(more * instant.time_s / 150));
    }
    plateau::Run with = run;
    with.gauges.push_back(threads);
    const Verdict verdict = judge(with);
    return std::ranges::any_of(verdict.causes,
                               [](const Cause& of) { return of.name == "thread-growth"; });
  };
  EXPECT_FALSE(blames_threads(2));
  EXPECT_TRUE(blames_threads(20));
}

TEST(Judge, ACacheThatTheFirstShortPassFilledIsNotTakenForStartUp) {
  // As torch did with 400 examples by 8: growth until step 50, level until step 660.
  Noise noise(6);
  const Verdict verdict = judge(with_epoch(
      run_of(660, 2, [&](double t) { return 229 + 4 * std::min(t, 50.0) + 0.5 * noise(); }), 50));
  ASSERT_EQ(verdict.word, Word::plateau);
  ASSERT_FALSE(verdict.causes.empty());
  EXPECT_EQ(verdict.causes[0].name, "per-example-cache");
}

TEST(Judge, ASlowLeakManyDeviationsLargeIsNotCalledLevel) {
  Noise noise(11);
  const Verdict verdict = judge(
      with_epoch(run_of(1200, 10, [&](double t) { return 5000 + 0.05 * t + 8 * noise(); }), 100));
  EXPECT_NE(verdict.word, Word::plateau);
  EXPECT_NE(verdict.word, Word::warming);
}

TEST(Judge, SixLevelSamplesAreNoAllClear) {
  const Verdict verdict = judge(run_of(60, 10, [](double) { return 500.0; }));
  EXPECT_EQ(verdict.word, Word::undecided);
  EXPECT_LT(verdict.confidence, 0.95);
  EXPECT_EQ(judge(run_of(120, 10, [](double) { return 500.0; })).word, Word::plateau);
}

TEST(Judge, AJobOfOneSecondIsNoAllClear) {
  plateau::Run run = run_of(40, 1, [](double) { return 500.0; });
  for (size_t i = 0; i < run.instants.size(); ++i) {
    run.instants[i].step = -1;
    run.instants[i].time_s = static_cast<double>(i) / 40;
  }
  EXPECT_EQ(judge(run).word, Word::undecided);
  for (Instant& instant : run.instants) instant.time_s *= 60;
  EXPECT_EQ(judge(run).word, Word::plateau);
}

TEST(Judge, WhereOnlyTheMachineWasLoggedItsMemoryDecidesAndNotItsSwap) {
  Noise noise(12);
  plateau::Run run =
      with_epoch(run_of(600, 2, [&](double t) { return 4000 + 40 * t + 20 * noise(); }), 100);
  run.series[0].metric = Metric::system_used;
  run.series.push_back({.process = 0, .metric = Metric::swap, .label = "swap"});
  run.series[1].mb.assign(run.instants.size(), 0.0);
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_EQ(verdict.component, "system");
  EXPECT_NE(found(verdict.warnings, FindingKind::machine_memory_only), nullptr);
}

TEST(Judge, WhatTheMachineSwapsOutIsStillInUse) {
  plateau::Run run = with_epoch(run_of(600, 2, [](double) { return 16000.0; }), 100);
  run.series[0].metric = Metric::system_used;
  run.series.push_back({.process = 0, .metric = Metric::swap, .label = "swap"});
  for (const Instant& at : run.instants) {
    run.series[1].mb.push_back(10 * static_cast<double>(at.step));
  }
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_EQ(verdict.component, "system");
  EXPECT_NEAR(verdict.last_mb, 22000, 1);
  EXPECT_TRUE(verdict.components[0].measure.with_swap);
}

TEST(Judge, TheRateOfThePagesIsThatOfTheAnswer) {
  Noise noise(9);
  const Verdict leak = judge(with_epoch(
      run_of(400, 4, [&](double t) { return 500 + 60 * std::sqrt(t) + t + 8 * noise(); }), 40));
  ASSERT_EQ(leak.word, Word::leak);
  EXPECT_DOUBLE_EQ(leak.components[0].rate_mb_per_step, leak.rate_mb_per_step);
  const Verdict slow =
      judge(with_epoch(run_of(250, 2, [](double t) { return 790 + 0.015 * t; }), 60));
  ASSERT_TRUE(slow.creeps);
  const Finding* creeps = found(slow.evidence, FindingKind::creeps_on);
  ASSERT_NE(creeps, nullptr);
  EXPECT_DOUBLE_EQ(slow.components[0].rate_mb_per_step, creeps->number("rate_mb_per_step")->value);
}

TEST(Judge, WhatFellIsLevelSinceItsFallAndNotSinceItsStart) {
  Noise noise(8);
  const plateau::Run run =
      run_of(800, 4, [&](double t) { return 3000 - 3 * std::min(t, 300.0) + 2 * noise(); });
  const Verdict verdict = judge(run);
  ASSERT_EQ(verdict.word, Word::plateau);
  EXPECT_NEAR(verdict.settled->step, 290, 40);
  EXPECT_LT(verdict.settled->range.high, 2250);
}

TEST(Judge, ASumFromWhichWorkersFellIsNoAllClear) {
  Noise noise(7);
  // Three processes keep 1 MB a step each; two of them end at step 540, and the log has one sum.
  const plateau::Run run =
      run_of(600, 5, [&](double t) { return 600 + (t <= 540 ? 3 * t : t - 200) + 2 * noise(); });
  EXPECT_EQ(judge(run).word, Word::undecided);
}

TEST(Judge, NoRunIsCalledFineAndSaidToRunOutOfMemory) {
  Noise noise(13);
  for (int i = 0; i < 300; ++i) {
    const double level = 50 * std::exp(4 * (noise() + 1));
    const double rate = level * 0.0005 * (noise() + 0.6);
    const double bend = 30 + 60 * (noise() + 1);
    const double roughness = level * 0.003 * (noise() + 1);
    plateau::Run run = with_epoch(
        run_of(200, 2,
               [&](double t) {
                 return level + rate * std::min(t, i % 3 == 0 ? bend : 1e9) + roughness * noise();
               }),
        40);
    run.context.limit_mb = Fact{level * 1.5, "test"};
    if (i % 2 == 0) run.context.total_steps = Fact{4000, "test"};
    const Verdict verdict = judge(run);
    if (verdict.word != Word::plateau) continue;
    EXPECT_LE(verdict.risk.oom.value_or(0), 0.5) << i;
  }
}

TEST(Judge, EpochIsReadFromLoggedEpochs) {
  plateau::Run run = run_of(150, 2, [](double t) { return 500 + 5 * t; });
  for (Instant& at : run.instants) at.epoch = static_cast<double>(at.step) / 60;
  const Verdict verdict = judge(run);
  EXPECT_DOUBLE_EQ(*verdict.epoch_steps, 60);
  EXPECT_EQ(verdict.word, Word::leak);
}

TEST(Judge, NoSampleAndOneSampleAreUndecidedWithTheReason) {
  EXPECT_EQ(judge(plateau::Run{}).word, Word::undecided);
  const Verdict one = judge(run_of({{10, 5000}}));
  EXPECT_EQ(one.word, Word::undecided);
  EXPECT_EQ(one.undecided_because.kind, FindingKind::too_few_samples);
  EXPECT_EQ(one.undecided_because.number("samples")->value, 1);
}

TEST(Judge, MissingAndAbsurdValuesDoNotDisturb) {
  plateau::Run run = run_of(200, 2, [](double) { return 500.0; });
  for (size_t i = 0; i < run.series[0].mb.size(); i += 7) run.series[0].mb[i] = kMissing;
  run.series[0].mb[20] = 1e12;
  const Verdict verdict = judge(with_epoch(run, 60));
  EXPECT_NE(verdict.word, Word::leak);
  EXPECT_TRUE(std::isfinite(verdict.confidence));
}

TEST(Judge, ReplayOfALongRunLooksAtMostTwoThousandTimesAndAtTheEnd) {
  const plateau::Run run = run_of(5000, 1, [](double) { return 500.0; });
  const std::vector<Verdict> looks = replay(run);
  EXPECT_LE(looks.size(), 2001u);
  EXPECT_EQ(looks.back().last_step, 5000);
  EXPECT_EQ(looks.front().samples, 3u);
}

TEST(Judge, PlotKeepsTheExtremesOfALongRun) {
  plateau::Run run = run_of(50000, 1, [](double t) { return t == 31415 ? 9000.0 : 500.0; });
  const Verdict verdict = judge(run);
  EXPECT_LE(verdict.plot.size(), 2000u);
  double highest = 0;
  for (const PlotPoint& point : verdict.plot) highest = std::max(highest, point.mb);
  EXPECT_DOUBLE_EQ(highest, 9000);
}

// Noise of 15 MB over growth of 0.5 MB a sample: for a while it may be the one or the other, but
// the word goes from fine through open to leak, and not back and forth.
TEST(Judge, SlowLeakOfALargeJobDoesNotFlicker) {
  Noise noise(21);
  const plateau::Run run =
      run_of(30000, 100, [&](double t) { return 5000 + 0.005 * t + 15 * noise(); });
  int turns = 0;
  Word last = Word::undecided;
  for (const Verdict& verdict : replay(run, {}, 10)) {
    const Word word = verdict.word == Word::warming ? Word::plateau : verdict.word;
    if (word == Word::undecided) continue;
    turns += last != Word::undecided && word != last;
    last = word;
  }
  EXPECT_EQ(last, Word::leak);
  EXPECT_LE(turns, 1);
}

TEST(Judge, ALeakIsToldPerStepAndNotPerExample) {
  Noise noise(3);
  plateau::Run run = run_of(400, 2, [&](double step) { return 500 + 5 * step + noise(); });
  run.context.examples = Fact{400, "--examples"};
  run.context.batch = Fact{4, "--batch"};
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_NEAR(verdict.rate_mb_per_step, 5, 0.1);
  EXPECT_FALSE(verdict.mb_per_example);
}

}  // namespace
}  // namespace plateau
