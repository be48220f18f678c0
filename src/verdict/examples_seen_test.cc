// SPDX-License-Identifier: Apache-2.0
#include "verdict/examples_seen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "verdict/test_runs.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

constexpr double kEpoch = 100;

// Steps, with new examples counted until `last_new`, four at a step.
Run counted(Run run, double last_new) {
  Gauge gauge;
  gauge.name = kExamplesSeen;
  for (const Instant& instant : run.instants) {
    gauge.value.push_back(4 * std::min(static_cast<double>(instant.step), last_new));
  }
  run.gauges.push_back(std::move(gauge));
  return run;
}

std::vector<double> clock_of(const Run& run) {
  std::vector<double> clock;
  for (const Instant& instant : run.instants) clock.push_back(static_cast<double>(instant.step));
  return clock;
}

Run straight_climb(int64_t steps) {
  return with_epoch(run_of(steps, 2, [](double step) { return 500 + 2 * step; }), kEpoch);
}

NewExamples examples_of(const Run& run) {
  return new_examples(run, clock_of(run), 0, kEpoch);
}

TEST(ExamplesSeen, TheLastNewOneIsKnownOnceTheCountHasStoodStill) {
  EXPECT_EQ(examples_of(counted(straight_climb(125), 98)).last, 98);
}

TEST(ExamplesSeen, NothingIsKnownWhileNewOnesCome) {
  const NewExamples of = examples_of(counted(straight_climb(90), 98));
  EXPECT_EQ(of.last, 0);
  EXPECT_FALSE(of.pace);
}

TEST(ExamplesSeen, NothingIsKnownJustAfterThePass) {
  const NewExamples of = examples_of(counted(straight_climb(104), 98));
  EXPECT_EQ(of.last, 0);
  EXPECT_FALSE(of.pace);
}

TEST(ExamplesSeen, NothingIsKnownWithoutACount) {
  EXPECT_TRUE(examples_of(straight_climb(125)).seen.empty());
}

TEST(ExamplesSeen, ACountThatBeginsLateInThePassTellsNoPace) {
  // Brought into a job that runs already: what it had loaded before, nobody counted.
  plateau::Run run = counted(straight_climb(125), 1000);
  for (size_t i = 0; i < 20; ++i) run.gauges[0].value[i] = kMissing;
  EXPECT_FALSE(examples_of(run).pace);
}

TEST(ExamplesSeen, AProcessThatIsStartedAnewCountsAnew) {
  plateau::Run run = counted(straight_climb(125), 1000);
  for (size_t i = 0; i < 20; ++i) run.gauges[0].value[i] = 1000;
  EXPECT_EQ(examples_of(run).seen.front().at, 42);
}

TEST(ExamplesSeen, AClimbThatOutlastsTheLastNewExampleIsALeakAQuarterOfAPassLater) {
  const Verdict verdict = judge(counted(straight_climb(125), 98));
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_NE(found(verdict.evidence, FindingKind::outlasts_new_examples), nullptr);
  EXPECT_FALSE(verdict.mb_per_example);
}

TEST(ExamplesSeen, TheCountSettlesWhatIsUndecidedWithoutIt) {
  EXPECT_EQ(judge(straight_climb(116)).word, Word::undecided);
  EXPECT_EQ(judge(counted(straight_climb(116), 98)).word, Word::leak);
}

TEST(ExamplesSeen, AClimbThatEndsWithTheLastNewExampleIsAPlateauAQuarterOfAPassLater) {
  const plateau::Run run = with_epoch(
      run_of(125, 2, [](double step) { return 500 + 2 * std::min(step, kEpoch); }), kEpoch);
  EXPECT_EQ(judge(counted(run, 98)).word, Word::plateau);
}

// A job of `workers` that live on, each dealt every so manieth batch of a new order in every pass.
struct Workers {
  size_t workers = 2;
  uint64_t order = 1;   // Seed of the shuffles.
  double cache_mb = 0;  // Kept for each example that is new to its worker,
  double step_mb = 0;   // and at every step.
  double noise_mb = 0;
  bool same_order = false;
  static constexpr size_t kBatch = 4;
};

Run trained(const Workers& job, int64_t steps) {
  constexpr auto kExamples = static_cast<size_t>(kEpoch) * Workers::kBatch;
  Noise noise(job.order + 77), dice(job.order);
  std::vector<std::vector<bool>> met(job.workers, std::vector<bool>(kExamples));
  std::vector<size_t> order(kExamples);
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<std::pair<int64_t, double>> points;
  Gauge seen{.name = std::string(kExamplesSeen)}, to_see{.name = std::string(kExamplesToSee)};
  size_t count = 0;
  for (int64_t step = 1; step <= steps; ++step) {
    const size_t batch = static_cast<size_t>(step - 1) % static_cast<size_t>(kEpoch);
    if (batch == 0 && !job.same_order) {
      for (size_t i = kExamples - 1; i > 0; --i) {
        const auto j = static_cast<size_t>((dice() + 1) / 2 * static_cast<double>(i + 1));
        std::swap(order[i], order[std::min(j, i)]);
      }
    }
    for (size_t k = 0; k < Workers::kBatch; ++k) {
      const size_t example = order[batch * Workers::kBatch + k];
      count += met[batch % job.workers][example] ? 0 : 1;
      met[batch % job.workers][example] = true;
    }
    if (step % 2 > 0) continue;
    points.emplace_back(step, 500 + job.cache_mb * static_cast<double>(count) +
                                  job.step_mb * static_cast<double>(step) + job.noise_mb * noise());
    seen.value.push_back(static_cast<double>(count));
    to_see.value.push_back(static_cast<double>(kExamples * job.workers));
  }
  Run run = with_epoch(run_of(points), kEpoch);
  run.context.batch = Fact{4, "test"};
  run.gauges = {std::move(seen), std::move(to_see)};
  return run;
}

std::string cause_of(const Verdict& verdict) {
  return verdict.causes.empty() ? "none" : std::string(verdict.causes.front().name);
}

// Five orders, each without noise and with some: 1 MB where a quarter of a pass brings 50.
std::vector<Workers> jobs_of(size_t workers, double cache_mb, double step_mb) {
  std::vector<Workers> jobs;
  for (const uint64_t order : {1, 2, 3, 4, 5}) {
    for (const double noise_mb : {0.0, 1.0}) {
      jobs.push_back({workers, order, cache_mb, step_mb, noise_mb});
    }
  }
  return jobs;
}

std::string name_of(const Workers& job, int64_t steps) {
  return std::to_string(job.workers) + " workers, order " + std::to_string(job.order) + ", noise " +
         std::to_string(job.noise_mb) + " MB, " + std::to_string(steps) + " steps";
}

TEST(ExamplesSeen, ACacheInEachOfTwoWorkersIsToldWithItsEndAQuarterOfAPassLater) {
  for (const Workers& job : jobs_of(2, 0.5, 0)) {
    const Verdict verdict = judge(trained(job, 125));
    EXPECT_EQ(verdict.word, Word::warming) << name_of(job, 125);
    EXPECT_EQ(cause_of(verdict), "per-example-cache") << name_of(job, 125);
    EXPECT_NE(found(verdict.evidence, FindingKind::follows_new_examples), nullptr);
    // 2 x 400 examples of 0.5 MB over 500 MB.
    ASSERT_TRUE(verdict.forecast) << name_of(job, 125);
    EXPECT_NEAR(verdict.forecast->plateau_mb, 900, 9) << name_of(job, 125);
    EXPECT_NEAR(verdict.mb_per_example.value_or(0), 0.5, 0.01) << name_of(job, 125);
  }
}

TEST(ExamplesSeen, ALeakBesideWorkersThatLiveOnIsToldAQuarterOfAPassLater) {
  for (const size_t workers : {2, 3}) {
    for (const Workers& job : jobs_of(workers, 0, 2)) {
      const Verdict verdict = judge(trained(job, 125));
      EXPECT_EQ(verdict.word, Word::leak) << name_of(job, 125);
      EXPECT_NE(found(verdict.evidence, FindingKind::outpaces_new_examples), nullptr)
          << name_of(job, 125);
      EXPECT_FALSE(verdict.mb_per_example) << name_of(job, 125);
    }
  }
}

TEST(ExamplesSeen, ACacheInWorkersThatLiveOnIsNeverALeak) {
  for (const size_t workers : {2, 3, 4, 8}) {
    for (const Workers& job : jobs_of(workers, 0.5, 0)) {
      for (const int64_t steps : {90, 105, 112, 125, 150, 199, 250, 300, 450, 800}) {
        EXPECT_NE(judge(trained(job, steps)).word, Word::leak) << name_of(job, steps);
      }
    }
  }
}

TEST(ExamplesSeen, ACacheInWorkersThatLiveOnIsAPlateauOnceEachHasMetAll) {
  for (const Workers& job : jobs_of(2, 0.5, 0)) {
    const Verdict verdict = judge(trained(job, 800));
    EXPECT_EQ(verdict.word, Word::plateau) << name_of(job, 800);
  }
}

TEST(ExamplesSeen, AnOrderThatStaysTheSameFillsEachWorkerInOnePass) {
  Workers job{.cache_mb = 0.5, .same_order = true};
  EXPECT_EQ(judge(trained(job, 125)).word, Word::plateau);
  EXPECT_EQ(cause_of(judge(trained(job, 125))), "per-example-cache");
  job.cache_mb = 0, job.step_mb = 2;
  EXPECT_EQ(judge(trained(job, 125)).word, Word::leak);
}

TEST(ExamplesSeen, ALeakBesideCachesOfTheSameSizeIsALeakInTheSecondPass) {
  for (const Workers& job : jobs_of(2, 0.25, 1)) {
    EXPECT_NE(judge(trained(job, 125)).word, Word::plateau) << name_of(job, 125);
    EXPECT_NE(judge(trained(job, 125)).word, Word::warming) << name_of(job, 125);
    EXPECT_EQ(judge(trained(job, 199)).word, Word::leak) << name_of(job, 199);
  }
}

TEST(ExamplesSeen, WithEightWorkersALeakWaitsUntilTheTwoClocksPart) {
  const Workers job{.workers = 8, .step_mb = 2};
  EXPECT_EQ(judge(trained(job, 199)).word, Word::undecided);
  EXPECT_EQ(judge(trained(job, 300)).word, Word::leak);
}

// An epoch of 100 steps that the loop leaves after 25, in a new order each time: of the examples
// drawn ever fewer are new.
TEST(ExamplesSeen, PassesThatAreLeftEarlyAreFollowedByTheirCount) {
  const auto seen = [](double step) { return 400 * (1 - std::pow(0.75, step / 25)); };
  const auto job = [&](double cache_mb, double step_mb) {
    plateau::Run run = with_epoch(
        run_of(125, 2, [&](double step) { return 500 + cache_mb * seen(step) + step_mb * step; }),
        kEpoch);
    Gauge gauge{.name = std::string(kExamplesSeen)};
    for (const Instant& at : run.instants) {
      gauge.value.push_back(std::round(seen(static_cast<double>(at.step))));
    }
    run.gauges = {std::move(gauge)};
    run.context.examples = Fact{400, "test"};
    return judge(run);
  };
  const Verdict cache = job(0.5, 0);
  EXPECT_EQ(cache.word, Word::warming);
  EXPECT_EQ(cause_of(cache), "per-example-cache");
  ASSERT_TRUE(cache.forecast);
  EXPECT_NEAR(cache.forecast->plateau_mb, 700, 14);
  EXPECT_EQ(job(0, 2).word, Word::leak);
}

TEST(ExamplesSeen, WhileNewExamplesComeAClimbIsNoLeakHoweverLongItTakes) {
  // Four passes of a loader that draws a quarter of the data each.
  const plateau::Run run = counted(straight_climb(125), 400);
  EXPECT_NE(judge(run).word, Word::leak);
}

}  // namespace
}  // namespace plateau
