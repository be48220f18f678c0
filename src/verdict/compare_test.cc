// SPDX-License-Identifier: Apache-2.0
#include "verdict/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "verdict/test_runs.h"

namespace plateau {
namespace {

const std::optional<Difference>& difference_of(const Change& change, FigureKind kind) {
  return change.differences[static_cast<size_t>(kind)];
}

bool significant(const Change& change, FigureKind kind) {
  const std::optional<Difference>& difference = difference_of(change, kind);
  return difference && difference->significant;
}

Change compare_two(const Run& a, const Run& b) {
  const std::vector<Run> runs = {a, b};
  return compare(std::span<const Run>(runs)).changes.front();
}

// How a made-up run looks: its level and growth, and how noise clings to it.
struct Recipe {
  double level_mb = 5000;
  double rate_mb = 0;
  double noise_mb = 20;
  double memory = 0;    // Lag-one correlation of the noise, 0 to 1.
  double step_s = 0.5;  // 0: no times.
  double step_noise = 0.1;
  int64_t steps = 800;
  int64_t every = 4;
};

Run made(const Recipe& recipe, uint64_t seed) {
  Noise noise(seed);
  double wander = 0, stall = 0, time = 0;
  std::vector<std::pair<int64_t, double>> points;
  std::vector<double> times;
  for (int64_t step = recipe.every; step <= recipe.steps; step += recipe.every) {
    const double fresh = std::sqrt(1 - recipe.memory * recipe.memory);
    wander = recipe.memory * wander + fresh * noise();
    stall = recipe.memory * stall + fresh * noise();
    time += recipe.step_s * static_cast<double>(recipe.every) * (1 + recipe.step_noise * stall);
    const double grown = recipe.rate_mb * static_cast<double>(step);
    points.emplace_back(step, recipe.level_mb + grown + recipe.noise_mb * wander);
    times.push_back(time);
  }
  Run run = with_epoch(run_of(points), 50);
  if (recipe.step_s > 0) {
    for (size_t i = 0; i < times.size(); ++i) run.instants[i].time_s = times[i];
  }
  return run;
}

struct Tally {
  size_t pairs = 0;
  size_t any = 0;
  std::array<size_t, kFigureCount> by_figure{};
  std::array<size_t, 11> growth{};
};

Tally tally(const Recipe& a, const Recipe& b, size_t pairs, uint64_t seed) {
  Tally result{.pairs = pairs};
  for (size_t i = 0; i < pairs; ++i) {
    const Change change = compare_two(made(a, seed + 2 * i), made(b, seed + 2 * i + 1));
    bool any = false;
    for (size_t kind = 0; kind < kFigureCount; ++kind) {
      const bool found = significant(change, static_cast<FigureKind>(kind));
      result.by_figure[kind] += found ? 1 : 0;
      any = any || found;
    }
    result.any += any ? 1 : 0;
    ++result.growth[static_cast<size_t>(change.growth)];
  }
  return result;
}

size_t count_of(const Tally& tally, FigureKind kind) {
  return tally.by_figure[static_cast<size_t>(kind)];
}

size_t count_of(const Tally& tally, GrowthChange change) {
  return tally.growth[static_cast<size_t>(change)];
}

TEST(Compare, LeakAgainstLevelRunOfTheSameLengthIsRemoved) {
  const plateau::Run leak = made({.rate_mb = 168}, 1);
  const plateau::Run fixed = made({}, 2);

  const Change change = compare_two(leak, fixed);

  EXPECT_EQ(change.growth, GrowthChange::removed);
  EXPECT_EQ(change.outcome, Outcome::no_worse);
  EXPECT_TRUE(significant(change, FigureKind::rate));
  EXPECT_TRUE(significant(change, FigureKind::growth));
  EXPECT_TRUE(significant(change, FigureKind::floor));
  EXPECT_TRUE(significant(change, FigureKind::peak));
  EXPECT_NEAR(difference_of(change, FigureKind::rate)->difference, -168, 3);
}

TEST(Compare, TheOtherWayRoundALeakHasAppeared) {
  const Change change = compare_two(made({}, 2), made({.rate_mb = 168}, 1));

  EXPECT_EQ(change.growth, GrowthChange::appeared);
  EXPECT_EQ(change.outcome, Outcome::worse);
}

TEST(Compare, ARunThatEndsBeforeTheLeakShowsProvesNothing) {
  const plateau::Run leak = made({.rate_mb = 168}, 1);
  const plateau::Run fixed = made({.steps = 40}, 2);

  const Change change = compare_two(leak, fixed);

  EXPECT_EQ(change.growth, GrowthChange::too_short);
  EXPECT_EQ(change.outcome, Outcome::undecided);
  EXPECT_EQ(change.to, 40);
  ASSERT_TRUE(change.shows_at);
  EXPECT_GT(*change.shows_at, 40);
  EXPECT_LT(*change.shows_at, 200);
}

TEST(Compare, ABaselineThatEndsBeforeTheLeakShowsAccusesNobody) {
  const Change change = compare_two(made({.steps = 40}, 2), made({.rate_mb = 168}, 1));

  EXPECT_EQ(change.growth, GrowthChange::too_short);
  EXPECT_EQ(change.outcome, Outcome::undecided);
}

TEST(Compare, LeakAtHalfTheRateIsSlowerAndTheReverseIsWorse) {
  const plateau::Run fast = made({.rate_mb = 20}, 3);
  const plateau::Run slow = made({.rate_mb = 10}, 4);

  EXPECT_EQ(compare_two(fast, slow).growth, GrowthChange::slower);
  EXPECT_EQ(compare_two(fast, slow).outcome, Outcome::no_worse);
  EXPECT_EQ(compare_two(slow, fast).growth, GrowthChange::faster);
  EXPECT_EQ(compare_two(slow, fast).outcome, Outcome::worse);
}

TEST(Compare, ACacheThatFilledAgainstNoneIsRemovedGrowthThoughNeitherLeaks) {
  const plateau::Run cached = with_production_context(run_of(production_run2()));
  const plateau::Run bounded = with_production_context(
      run_of(240, 10, [](double step) { return 5434 + 3 * std::sin(step); }));

  const Change change = compare_two(cached, bounded);

  EXPECT_EQ(change.growth, GrowthChange::removed);
  EXPECT_TRUE(significant(change, FigureKind::growth));
  EXPECT_EQ(compare_two(bounded, cached).growth, GrowthChange::increased);
  EXPECT_EQ(compare_two(bounded, cached).outcome, Outcome::worse);
}

TEST(Compare, AnUndecidedSideLeavesTheGrowthUndecided) {
  const plateau::Run undecided = with_production_context(run_of(production_run1()));
  const plateau::Run level = with_production_context(run_of(70, 10, [](double) { return 5500.0; }));

  EXPECT_EQ(compare_two(undecided, level).outcome, Outcome::undecided);
}

TEST(Compare, RunsAreCutWhereTheShorterOneEnds) {
  const plateau::Run longer = made({.steps = 1600}, 5);
  const plateau::Run shorter = made({}, 6);

  const Change change = compare_two(longer, shorter);

  EXPECT_EQ(change.from, 4);
  EXPECT_EQ(change.to, 800);
  EXPECT_EQ(change.growth, GrowthChange::none);
}

TEST(Compare, RunsWithoutACommonSpanAreUndecided) {
  plateau::Run late = made({.rate_mb = 168}, 5);
  for (Instant& instant : late.instants) instant.step += 5000;

  const Change change = compare_two(late, made({}, 6));

  EXPECT_EQ(change.outcome, Outcome::undecided);
  EXPECT_TRUE(found(change.warnings, FindingKind::compared_without_common_span));
}

TEST(Compare, WithoutStepsOnOneSideSecondsAreTheClock) {
  plateau::Run timed = made({.rate_mb = 168}, 7);
  for (Instant& instant : timed.instants) instant.step = -1;

  const Change change = compare_two(timed, made({}, 8));

  EXPECT_EQ(change.clock, Clock::seconds);
  EXPECT_TRUE(found(change.warnings, FindingKind::compared_over_seconds));
  EXPECT_FALSE(difference_of(change, FigureKind::step_time));
}

TEST(Compare, ALogWithMoreMeasuresIsComparedOnTheCommonOne) {
  const plateau::Run rss = made({}, 9);
  plateau::Run both = made({}, 10);
  Series anon = both.series.front();
  anon.metric = Metric::anon;
  for (double& mb : anon.mb) mb -= 2000;
  both.series.push_back(anon);

  const Change change = compare_two(rss, both);

  const Finding* common = found(change.warnings, FindingKind::compared_on_common_measure);
  ASSERT_TRUE(common);
  EXPECT_EQ(common->named("common_measure")->text, "RSS");
  EXPECT_FALSE(significant(change, FigureKind::floor));
}

TEST(Compare, UnlikeMeasuresAreNotComparedByLevel) {
  plateau::Run anon = made({.level_mb = 3000}, 10);
  anon.series.front().metric = Metric::anon;

  const Change change = compare_two(made({}, 9), anon);

  EXPECT_TRUE(found(change.warnings, FindingKind::compared_by_growth_only));
  EXPECT_FALSE(significant(change, FigureKind::floor));
  EXPECT_FALSE(significant(change, FigureKind::peak));
}

TEST(Compare, LeakInSharedMemoryIsComparedThere) {
  const auto with_shmem = [](double rate_mb, uint64_t seed) {
    plateau::Run run = made({}, seed);
    Series shmem = made({.level_mb = 1000, .rate_mb = rate_mb}, seed + 1).series.front();
    shmem.metric = Metric::shmem;
    run.series.push_back(shmem);
    return run;
  };

  const Change change = compare_two(with_shmem(20, 1), with_shmem(0, 3));

  EXPECT_EQ(change.component, "shmem");
  EXPECT_EQ(change.growth, GrowthChange::removed);
}

TEST(Compare, SeveralRunsASideMakeRunsTheNoise) {
  std::vector<RunGroup> sides(2);
  for (const double level : {5000.0, 5400.0, 4700.0}) {
    sides[0].push_back(made({.level_mb = level}, 20));
    sides[1].push_back(made({.level_mb = level + 150}, 21));
  }

  const Change alone = compare_two(sides[0][0], sides[1][0]);
  const Change together = compare(std::span<const RunGroup>(sides)).changes.front();

  EXPECT_TRUE(significant(alone, FigureKind::floor));
  EXPECT_FALSE(alone.replicated);
  EXPECT_TRUE(together.replicated);
  EXPECT_FALSE(significant(together, FigureKind::floor));
  EXPECT_EQ(difference_of(together, FigureKind::floor)->method, "runs");
}

TEST(Compare, ALeakInOneOfThreeRunsCannotBeCalledGone) {
  std::vector<RunGroup> sides(2);
  for (uint64_t i = 0; i < 3; ++i) {
    sides[0].push_back(made({.rate_mb = i == 0 ? 168.0 : 0.0}, 30 + i));
    sides[1].push_back(made({}, 40 + i));
  }

  const Comparison comparison = compare(std::span<const RunGroup>(sides));

  EXPECT_EQ(comparison.sides[0].leaks, 1U);
  EXPECT_EQ(comparison.changes[0].growth, GrowthChange::undecided);
}

TEST(Compare, TheWorstOfSeveralSidesIsTheOutcome) {
  const std::vector<plateau::Run> runs = {made({}, 1), made({}, 2), made({.rate_mb = 168}, 3)};

  const Comparison comparison = compare(std::span<const plateau::Run>(runs));

  ASSERT_EQ(comparison.changes.size(), 2U);
  EXPECT_EQ(comparison.changes[0].outcome, Outcome::no_worse);
  EXPECT_EQ(comparison.changes[1].outcome, Outcome::worse);
  EXPECT_EQ(comparison.outcome, Outcome::worse);
}

TEST(Compare, SpikesThatAreGoneAreCounted) {
  const auto spiky = [](double height_mb) {
    return run_of(400, 2, [height_mb](double step) {
      return 5000 + (std::fmod(step, 40) < 1 ? height_mb : 0) + 5 * std::sin(step);
    });
  };

  const Change change = compare_two(spiky(3000), spiky(0));

  EXPECT_TRUE(significant(change, FigureKind::spike_count));
  EXPECT_EQ(difference_of(change, FigureKind::spike_count)->difference, -10);
}

TEST(Compare, IsTheSameEachTime) {
  const plateau::Run a = made({.rate_mb = 3, .memory = 0.8}, 50);
  const plateau::Run b = made({.memory = 0.8}, 51);

  const Change once = compare_two(a, b);
  const Change again = compare_two(a, b);

  for (size_t i = 0; i < kFigureCount; ++i) {
    ASSERT_EQ(once.differences[i].has_value(), again.differences[i].has_value());
    if (!once.differences[i]) continue;
    EXPECT_EQ(once.differences[i]->difference, again.differences[i]->difference);
  }
}

// The next three are the error rates that docs/compare.md states.
TEST(CompareErrors, EqualProcessesRarelyDifferInAnyFigure) {
  for (const double memory : {0.0, 0.5, 0.9}) {
    const Recipe recipe{.noise_mb = 60, .memory = memory};
    const Tally level = tally(recipe, recipe, 100, 1000);
    EXPECT_LE(level.any, 5U) << "correlation " << memory;
    const Recipe growing{.rate_mb = 10, .noise_mb = 60, .memory = memory};
    const Tally leak = tally(growing, growing, 100, 5000);
    EXPECT_LE(leak.any, 5U) << "correlation " << memory;
    EXPECT_EQ(count_of(level, GrowthChange::appeared), 0U);
    EXPECT_EQ(count_of(level, GrowthChange::removed), 0U);
  }
}

TEST(CompareErrors, RemovedGrowthAndSlowerStepsAreFound) {
  const Recipe leak{.rate_mb = 10, .noise_mb = 60, .memory = 0.5, .step_noise = 0.05};
  const Recipe fixed{.noise_mb = 60, .memory = 0.5, .step_s = 0.515, .step_noise = 0.05};

  const Tally found = tally(leak, fixed, 50, 9000);

  EXPECT_GE(count_of(found, GrowthChange::removed), 45U);
  EXPECT_GE(count_of(found, FigureKind::rate), 45U);
  EXPECT_GE(count_of(found, FigureKind::step_time), 25U);
}

TEST(CompareErrors, ALevelThreePerCentHigherIsFound) {
  const Recipe low{.noise_mb = 60, .memory = 0.5};
  const Recipe high{.level_mb = 5150, .noise_mb = 60, .memory = 0.5};

  const Tally found = tally(low, high, 50, 12000);

  EXPECT_GE(count_of(found, FigureKind::floor), 40U);
}

}  // namespace
}  // namespace plateau
