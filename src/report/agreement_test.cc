// SPDX-License-Identifier: Apache-2.0
// Word, probability, risk, explanations and what is promised say the same of one run: over recorded
// traces and random ones, looked at early and late, under limits near and far.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "import/import.h"
#include "verdict/test_runs.h"
#include "verdict/verdict.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

// What nobody would call level: more than this a run may grow by under "no leak" only beside the
// word for it.
constexpr double kSurelyGrowsShare = 0.05;
constexpr double kSurelyGrowsMb = 10;

bool calls_fine(const Verdict& verdict) {
  return headline_of(verdict).starts_with("no leak") &&
         headline_of(verdict).find("limit") == std::string::npos;
}

double weight_of_growth(const Verdict& verdict, double least_rate) {
  double weight = 0;
  for (const Explanation& each : verdict.explanations) {
    if (!each.bounded && each.rate_mb_per_step > least_rate) weight += each.weight;
  }
  return weight;
}

void expect_explanations_fit_the_word(const Verdict& verdict) {
  if (verdict.explanations.empty() || verdict.confidence == 0) return;
  double all = 0;
  for (const Explanation& each : verdict.explanations) all += each.weight;
  EXPECT_NEAR(all, 1, 1e-6);
  const double endless = weight_of_growth(verdict, 0);
  if (verdict.word == Word::leak) {
    // A shape is shown by its best fit, whose rate may be none where that of others is not.
    EXPECT_GE(endless, verdict.confidence - 0.01);
    EXPECT_GT(verdict.rate_mb_per_step, 0);
  } else if (verdict.word != Word::undecided) {
    const double span = std::max(verdict.last_step - verdict.first_step, 1e-9);
    const double grows = std::max(kSurelyGrowsMb, kSurelyGrowsShare * verdict.last_mb) / span;
    EXPECT_LE(weight_of_growth(verdict, grows), 0.5);
  } else {
    EXPECT_GE(verdict.confidence, 0.5 - 1e-6);
  }
}

void expect_agreement(const Verdict& verdict) {
  if (calls_fine(verdict)) {
    EXPECT_LE(verdict.risk.oom.value_or(0), 0.5);
  }
  const bool level = verdict.word == Word::plateau && !verdict.creeps;
  if (level && verdict.spikes.count == 0 && !verdict.sawtooth &&
      verdict.risk.limit_mb > 1.05 * std::max(verdict.last_mb, verdict.settled->range.high)) {
    EXPECT_LE(verdict.risk.oom.value_or(0), 0.5) << headline_of(verdict);
  }
  EXPECT_EQ(verdict.settled.has_value(), verdict.word == Word::plateau);
  EXPECT_TRUE(verdict.word == Word::undecided || !verdict.decides_at_step);
  if (verdict.decides_at_step) {
    EXPECT_GT(*verdict.decides_at_step, verdict.last_step);
  }
  if (verdict.known_by_step) {
    EXPECT_GE(*verdict.known_by_step, verdict.decides_at_step.value_or(1e300));
    EXPECT_LE(*verdict.known_by_step, verdict.total_steps.value_or(1e300));
  }
  EXPECT_LE(verdict.rate_range.low, verdict.rate_range.high);
  expect_explanations_fit_the_word(verdict);
}

// With a limit a little, somewhat and far above what is held, and without a planned end.
void expect_agreement_under_limits(plateau::Run run, const std::string& name) {
  const Verdict bare = judge(run);
  SCOPED_TRACE(name);
  expect_agreement(bare);
  run.context.total_steps = Fact{2 * std::max(bare.last_step, 1.0), "test"};
  for (const double times : {1.02, 1.4, 4.0}) {
    run.context.limit_mb = Fact{times * std::max(bare.last_mb, 1.0), "test"};
    expect_agreement(judge(run));
  }
  run.context.total_steps.reset();
  expect_agreement(judge(run));
}

class Agreement : public ::testing::TestWithParam<const char*> {};

TEST_P(Agreement, OfWordRiskAndExplanationsHoldsOverTheCorpus) {
  size_t traces = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(PLATEAU_SOURCE_DIR) +
                                                               "/corpus/" + GetParam())) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".csv.gz")) continue;
    const Result<std::vector<plateau::Run>> runs = import_file(path);
    ASSERT_TRUE(runs) << path;
    ++traces;
    const plateau::Run& run = runs.value().front();
    for (const size_t part : {5, 10}) {
      const size_t count = run.instants.size() * part / 10;
      expect_agreement_under_limits(prefix_of(run, count),
                                    path + " " + std::to_string(10 * part) + " %");
    }
  }
  EXPECT_GT(traces, 20U);
}

INSTANTIATE_TEST_SUITE_P(All, Agreement, ::testing::Values("dev", "own", "lives"),
                         [](const auto& param) { return std::string(param.param); });

// A climb that may end, teeth, spikes, a fall, noise: each drawn.
plateau::Run random_run(uint64_t seed) {
  Noise noise(seed);
  const auto draw = [&noise](double low, double high) {
    return low + (high - low) * (noise() + 1) / 2;
  };
  const double level = 50 * std::exp(draw(0, 6)), rate = level * draw(-0.0005, 0.004);
  const double bend = draw(0, 1) < 0.5 ? draw(20, 200) : 1e9;
  const double rough = level * draw(0, 0.02), tooth = draw(0, 1) < 0.3 ? level * 0.2 : 0;
  const double spike = draw(0, 1) < 0.3 ? level * draw(0.1, 1) : 0;
  const double falls_at = draw(0, 1) < 0.3 ? draw(50, 280) : 1e9, keeps = draw(0.4, 1);
  const auto steps = static_cast<int64_t>(draw(20, 300));
  plateau::Run run = run_of(steps, 1 + static_cast<int64_t>(seed % 4), [&](double t) {
    const double climb = level + rate * std::min(t, bend);
    const double now = t > falls_at ? keeps * climb : climb;
    return std::max(1.0, now + tooth * std::fmod(t, 17) / 17 + (std::fmod(t, 40) < 4 ? spike : 0) +
                             rough * noise());
  });
  return seed % 3 == 0 ? run : with_epoch(run, draw(10, 200));
}

TEST(AgreementAtRandom, OfWordRiskAndExplanationsHolds) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    expect_agreement_under_limits(random_run(seed), "seed " + std::to_string(seed));
  }
}

}  // namespace
}  // namespace plateau
