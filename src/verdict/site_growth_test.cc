// SPDX-License-Identifier: Apache-2.0
#include "verdict/site_growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verdict/test_tracks.h"

namespace plateau {
namespace {

constexpr double kSampledBytes = 512 * 1024;

Context production() {
  Context context;
  context.examples = Fact{664, "test"};
  context.batch = Fact{8, "test"};
  return context;
}

const SiteVerdict& of(const std::vector<SiteVerdict>& verdicts, size_t site) {
  for (const SiteVerdict& verdict : verdicts) {
    if (verdict.site == site) return verdict;
  }
  return verdicts.front();
}

// The word for a site that follows `curve` beside a level site of 100 MB.
SiteVerdict judged(const std::function<double(double)>& curve, size_t rows = 200,
                   const Context& context = {}) {
  TrackMaker maker(rows);
  maker.add([](double) { return 100.0; });
  const size_t site = maker.add(curve);
  return of(judge_sites(maker.track(), context), site);
}

TEST(SiteGrowth, SteadyGrowthPastTheDeadlineIsUnbounded) {
  const SiteVerdict verdict = judged([](double t) { return 1 + 0.05 * t; });
  EXPECT_EQ(verdict.word, GrowthWord::unbounded);
  EXPECT_NEAR(verdict.rate_mb_per_step, 0.05, 0.002);
  EXPECT_LE(verdict.rate_range.low, 0.05);
  EXPECT_GE(verdict.rate_range.high, 0.05);
  EXPECT_NEAR(verdict.growth_mb, 49, 2);
  EXPECT_GT(verdict.confidence, 0.88);
  EXPECT_EQ(verdict.why.named("unbounded")->text, "linear");
}

TEST(SiteGrowth, SmallLeakBesideALargeLevelHeapIsSeen) {
  TrackMaker maker(200);
  maker.add([](double) { return 400.0; });
  const size_t site = maker.add([](double t) { return 0.001 * t; });
  const std::vector<SiteVerdict> verdicts = judge_sites(maker.track(), {});
  EXPECT_EQ(verdicts.front().site, site);
  EXPECT_EQ(verdicts.front().word, GrowthWord::unbounded);
}

TEST(SiteGrowth, LeakOnTopOfAHighLevelIsJudgedFromThatLevel) {
  const SiteVerdict verdict = judged([](double t) { return 300 + 0.002 * t; });
  EXPECT_EQ(verdict.word, GrowthWord::unbounded);
  EXPECT_NEAR(verdict.growth_mb, 2, 0.1);
}

TEST(SiteGrowth, CacheThatFilledInTheFirstEpochHasGrownPerExample) {
  const SiteVerdict verdict =
      judged([](double t) { return 2.0 * std::min(t, 83.0); }, 100, production());
  EXPECT_EQ(verdict.word, GrowthWord::grown);
  ASSERT_TRUE(verdict.ends_at_step);
  EXPECT_NEAR(*verdict.ends_at_step, 83, 6);
  ASSERT_TRUE(verdict.mb_per_example);
  EXPECT_NEAR(*verdict.mb_per_example, 0.25, 0.03);
  EXPECT_TRUE(verdict.why.number("mb_per_example"));
}

TEST(SiteGrowth, CacheThatMayStillBeFillingIsUndecidedAndSaysUntilWhen) {
  const SiteVerdict verdict = judged([](double t) { return 2.0 * t; }, 14, production());
  EXPECT_EQ(verdict.word, GrowthWord::undecided);
  EXPECT_TRUE(is_growing(verdict));
  EXPECT_NEAR(verdict.rate_mb_per_step, 2, 0.1);
  EXPECT_TRUE(verdict.why.number("decides_at_step"));
}

TEST(SiteGrowth, GrowthThatSlowsDownIsFilling) {
  const SiteVerdict verdict = judged([](double t) { return 100 * (1 - std::exp(-t / 120)); }, 45);
  EXPECT_EQ(verdict.word, GrowthWord::filling);
  EXPECT_TRUE(verdict.ends_at_step);
}

TEST(SiteGrowth, OneJumpThatStaysIsOneOff) {
  const SiteVerdict verdict = judged([](double t) { return t < 300 ? 5.0 : 65.0; });
  EXPECT_EQ(verdict.word, GrowthWord::one_off);
  EXPECT_EQ(verdict.rate_mb_per_step, 0);
  EXPECT_NEAR(verdict.growth_mb, 60, 1);
  EXPECT_EQ(verdict.why.number("jump_1_step")->value, 300);
}

TEST(SiteGrowth, WhatDoesNotChangeIsLevel) {
  const SiteVerdict verdict = judged([](double) { return 40.0; });
  EXPECT_EQ(verdict.word, GrowthWord::level);
  EXPECT_FALSE(is_growing(verdict));
}

TEST(SiteGrowth, BuffersOfEveryStepAreChurn) {
  TrackMaker maker(200);
  Noise noise(3);
  const size_t site = maker.add([&](double) { return 20 + 8 * noise(); });
  maker.site(site).live_age[1] = 5;
  const SiteVerdict verdict = of(judge_sites(maker.track(), {}), site);
  EXPECT_EQ(verdict.word, GrowthWord::churn);
}

TEST(SiteGrowth, CollectorsSawtoothIsChurnBecauseItsFloorDoesNotMove) {
  const SiteVerdict verdict = judged([](double t) { return 3 + std::fmod(t, 50); });
  EXPECT_EQ(verdict.word, GrowthWord::churn);
  EXPECT_EQ(verdict.why.kind, FindingKind::site_teeth);
}

TEST(SiteGrowth, SawtoothOnARisingFloorIsUnbounded) {
  const SiteVerdict verdict = judged([](double t) { return 0.05 * t + std::fmod(t, 50); });
  EXPECT_EQ(verdict.word, GrowthWord::unbounded);
  EXPECT_NEAR(verdict.rate_mb_per_step, 0.05, 0.01);
}

TEST(SiteGrowth, HighForAWhileThenGoneIsASpike) {
  const SiteVerdict verdict = judged([](double t) { return t > 300 && t < 400 ? 200.0 : 1.0; });
  EXPECT_EQ(verdict.word, GrowthWord::spike);
  EXPECT_NEAR(verdict.why.number("peak_mb")->value, 200, 0.5);
}

TEST(SiteGrowth, FewRowsDecideNothing) {
  const SiteVerdict verdict = judged([](double t) { return 1 + t; }, 4);
  EXPECT_EQ(verdict.word, GrowthWord::undecided);
  EXPECT_EQ(verdict.confidence, 0);
  EXPECT_EQ(verdict.why.kind, FindingKind::site_too_short);
}

TEST(SiteGrowth, NoRowsGiveNoGrowth) {
  TrackMaker maker(0);
  maker.add([](double) { return 1.0; });
  const std::vector<SiteVerdict> verdicts = judge_sites(maker.track(), {});
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].word, GrowthWord::undecided);
}

TEST(SiteGrowth, WithoutStepsTheClockIsSeconds) {
  TrackMaker maker(200, 60, false);
  const size_t site = maker.add([](double t) { return 0.01 * t; });
  EXPECT_EQ(working_rows(maker.track()).clock, Clock::seconds);
  const SiteVerdict verdict = of(judge_sites(maker.track(), {}), site);
  EXPECT_EQ(verdict.word, GrowthWord::unbounded);
  EXPECT_NEAR(verdict.rate_mb_per_step, 0.01, 0.001);
}

TEST(SiteGrowth, StartUpBeforeTheFirstStepIsNoGrowth) {
  TrackMaker maker(120);
  for (size_t i = 0; i < 20; ++i) maker.track().rows[i].step = -1;
  const size_t site = maker.add([](double t) { return std::min(t, 95.0); });
  const SiteVerdict verdict = of(judge_sites(maker.track(), {}), site);
  EXPECT_EQ(verdict.word, GrowthWord::level);
}

TEST(SiteGrowth, OfSeveralRowsAtOneStepTheSmallestCounts) {
  TrackMaker maker(300, 1);
  for (size_t i = 0; i < 300; ++i) maker.track().rows[i].step = static_cast<int64_t>(1 + i / 3);
  const size_t site = maker.add([](double t) { return std::fmod(t, 3) == 1 ? 50.0 : 2.0; });
  const SiteVerdict verdict = of(judge_sites(maker.track(), {}), site);
  EXPECT_NEAR(verdict.growth_mb, 0, 1e-9);
  EXPECT_NEAR(verdict.live_mb, 2, 1e-9);
}

TEST(SampledSites, LeakOfManySamplesIsFoundAndTheIntervalHoldsItsRate) {
  int held = 0;
  constexpr int kRuns = 50;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    TrackMaker maker(200);
    const size_t site = maker.add_sampled([](double t) { return 0.2 * t; }, kSampledBytes, seed);
    const SiteVerdict verdict = of(judge_sites(maker.track(), {}), site);
    EXPECT_EQ(verdict.word, GrowthWord::unbounded) << seed << ": ";
    EXPECT_GT(verdict.error_mb, 5);
    held += verdict.rate_range.low <= 0.2 && verdict.rate_range.high >= 0.2;
  }
  // 90 % promised; of 50 runs fewer than 40 would be a promise broken.
  EXPECT_GE(held, 40);
}

TEST(SampledSites, LevelSiteWhoseSamplesWaverDoesNotGrow) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    TrackMaker maker(200);
    Noise noise(seed);
    const size_t site = maker.add([&](double) { return 20 + 5 * noise(); });
    maker.track().exact = false;
    maker.track().interval_bytes = kSampledBytes;
    maker.site(site).live_variance = 20e6 * kSampledBytes;
    const SiteVerdict verdict = of(judge_sites(maker.track(), {}), site);
    EXPECT_FALSE(is_growing(verdict)) << seed << ": ";
  }
}

TEST(SampledSites, ThreeSamplesAreNoGrowth) {
  TrackMaker maker(200);
  maker.track().exact = false;
  maker.track().interval_bytes = kSampledBytes;
  const size_t site = maker.add([](double t) { return 0.52 * std::floor(t / 300); }, kSampledBytes);
  maker.site(site).live_variance = 3 * kSampledBytes * kSampledBytes;
  const SiteVerdict verdict = of(judge_sites(maker.track(), {}), site);
  EXPECT_EQ(verdict.word, GrowthWord::level);
  EXPECT_EQ(verdict.why.kind, FindingKind::site_within_error);
}

TEST(SampledSites, ErrorIsKnownAlsoOfAJobThatGaveEverythingBackAtItsEnd) {
  TrackMaker maker(200);
  const size_t site = maker.add_sampled([](double t) { return 0.2 * t; }, kSampledBytes, 1);
  maker.site(site).live_variance = 0;
  EXPECT_GT(of(judge_sites(maker.track(), {}), site).error_mb, 5);
  maker.site(site).kind = HeapKind::mapping;
  EXPECT_EQ(of(judge_sites(maker.track(), {}), site).error_mb, 0);
}

TEST(SampledSites, CacheThatFilledIsGrownUntilTheFirstPassEnded) {
  int held = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    TrackMaker maker(100);
    const size_t site =
        maker.add_sampled([](double t) { return 3 * std::min(t, 83.0); }, kSampledBytes, seed);
    const SiteVerdict verdict = of(judge_sites(maker.track(), production()), site);
    EXPECT_EQ(verdict.word, GrowthWord::grown) << seed << ": ";
    EXPECT_EQ(verdict.ends_at_step, 83) << seed;
    held += verdict.rate_range.low <= 3 && verdict.rate_range.high >= 3;
  }
  EXPECT_GE(held, 16);
}

TEST(SiteAges, MedianAgeOfLiveBlocksIsReadFromTheBuckets) {
  TrackMaker maker(100);
  const size_t site = maker.add([](double) { return 10.0; });
  maker.site(site).live_age[5] = 100;  // Ages 16 to 31.
  const SiteVerdict verdict = of(judge_sites(maker.track(), {}), site);
  EXPECT_GT(verdict.median_age_steps, 16);
  EXPECT_LT(verdict.median_age_steps, 32);
}

TEST(SiteAges, YoungBlocksOnAWaveringLevelAreChurn) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    TrackMaker maker(60);
    Noise noise(seed);
    const size_t site = maker.add([&](double t) { return 10 + 0.02 * t + 6 * noise(); });
    maker.site(site).live_age[0] = 90;
    maker.site(site).live_age[1] = 10;
    const SiteVerdict verdict = of(judge_sites(maker.track(), {}), site);
    EXPECT_EQ(verdict.word, GrowthWord::churn) << seed << ": ";
  }
}

TEST(SiteRanking, GrowingSitesComeFirstByWhatTheyWillBe) {
  TrackMaker maker(200);
  const size_t level = maker.add([](double) { return 500.0; });
  const size_t slow = maker.add([](double t) { return 0.02 * t; });
  const size_t jump = maker.add([](double t) { return t < 200 ? 1.0 : 300.0; });
  const size_t fast = maker.add([](double t) { return 0.2 * t; });
  const std::vector<SiteVerdict> verdicts = judge_sites(maker.track(), {});
  ASSERT_EQ(verdicts.size(), 4u);
  EXPECT_EQ(verdicts[0].site, fast);
  EXPECT_EQ(verdicts[1].site, slow);
  EXPECT_EQ(verdicts[2].site, jump);
  EXPECT_EQ(verdicts[3].site, level);
}

TEST(SiteRanking, OfTooFewRowsTheSiteThatGrewLeads) {
  TrackMaker maker(3);
  maker.track().exact = false;
  maker.track().interval_bytes = kSampledBytes;
  const size_t two_samples =
      maker.add([](double t) { return t < 5 ? 0 : 1.05; }, kSampledBytes / 256);
  maker.site(two_samples).live_variance = 2 * kSampledBytes * kSampledBytes;
  const size_t grew = maker.add([](double t) { return 1 + 5.4 * t; }, kSampledBytes / 2);
  maker.site(grew).live_variance = 55e6 * kSampledBytes;
  const std::vector<SiteVerdict> verdicts = judge_sites(maker.track(), {});
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[0].site, grew);
  EXPECT_TRUE(is_growing(verdicts[0]));
  EXPECT_NEAR(verdicts[0].rate_mb_per_step, 5.4, 1e-9);
  EXPECT_FALSE(verdicts[1].grew) << "two samples are within their error";
}

TEST(SiteRanking, ATinyLeakDoesNotComeBeforeWhatMadeTheGrowth) {
  TrackMaker maker(200);
  const size_t tiny = maker.add([](double t) { return 0.001 * t; });
  const size_t grown = maker.add([](double t) { return std::min(300.0, 3 * t); });
  const std::vector<SiteVerdict> verdicts = judge_sites(maker.track(), {});
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[0].site, grown);
  EXPECT_EQ(verdicts[1].site, tiny);
  EXPECT_EQ(verdicts[1].word, GrowthWord::unbounded);
}

TEST(Series, CountsAreJudgedAndToldAsCounts) {
  std::vector<TimedValue> points;
  for (int step = 0; step <= 1000; step += 10) points.push_back({double(step), 100.0 + 3 * step});
  const SiteVerdict verdict = judge_series(points, Clock::steps, {}, {}, SeriesUnit::count);
  EXPECT_EQ(verdict.word, GrowthWord::unbounded);
  EXPECT_NEAR(verdict.rate_mb_per_step, 3, 0.05);
  EXPECT_NEAR(verdict.why.number("growth_mb")->value, 3000, 1);
}

TEST(Series, ValuesThatAreMissingAreSkipped) {
  std::vector<TimedValue> points;
  for (int step = 0; step <= 1000; step += 10) {
    points.push_back({double(step), step % 30 == 0 ? kMissing : 0.1 * step});
  }
  EXPECT_EQ(judge_series(points, Clock::steps, {}).word, GrowthWord::unbounded);
}

}  // namespace
}  // namespace plateau
