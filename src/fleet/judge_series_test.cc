// SPDX-License-Identifier: Apache-2.0
#include "fleet/judge_series.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace plateau::fleet {
namespace {

constexpr double kHour = 3600;
constexpr double kDay = 24 * kHour;
constexpr double kBegin = 1.7e9;

// Repeatable, between -1 and 1.
double noise(double at) {
  return std::sin(at * 12.9898) * 0.7 + std::sin(at * 78.233) * 0.3;
}

std::vector<Sample> curve(const std::function<double(double)>& mb, double every_s = 30) {
  std::vector<Sample> samples;
  for (double t = 0; t < 6 * kHour; t += every_s) samples.push_back({kBegin + t, mb(t) + noise(t)});
  return samples;
}

JudgedSeries judged(const std::function<double(double)>& mb) {
  JudgedSeries series;
  series.series.samples = curve(mb);
  series.begin_s = kBegin;
  series.limit_mb = 1000;
  return series;
}

double climb(double t) {
  return 200 + 300 * t / (6 * kHour);
}
double level(double /*t*/) {
  return 200;
}
double wave(double t) {
  return 400 + 200 * std::sin(2 * std::numbers::pi * (t / kDay - 0.125));
}

EarlierDay day_before(const std::function<double(double)>& mb, bool same_life = true) {
  return {.samples = curve(mb, 300), .days = 1, .same_life = same_life};
}

SeriesVerdict judge_after(const JudgedSeries& series, const std::vector<Sample>& wave) {
  return judge_under_load(series, {.source = LoadSource::day_before, .wave = wave, .work = {}});
}

TEST(FleetSeries, ThatClimbsUnderALevelLoadLeaks) {
  const JudgedSeries series = judged(climb);
  const auto load = wave_of(day_before(level), series.series.samples);
  ASSERT_TRUE(load.has_value());
  const SeriesVerdict verdict = judge_after(series, *load);
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_GT(verdict.log_factor, 4);
  EXPECT_NEAR(verdict.rate_mb_per_s * kHour, 50, 5);
  EXPECT_NEAR(*verdict.limit_in_s, 10 * kHour, kHour);
}

TEST(FleetSeries, ThatClimbsEveryMorningDoesNotLeak) {
  const JudgedSeries series = judged(wave);
  EXPECT_TRUE(is_suspect(judge_at_level_load(series)));
  const auto load = wave_of(day_before(wave), series.series.samples);
  ASSERT_TRUE(load.has_value());
  EXPECT_NE(judge_after(series, *load).word, Word::leak);
}

TEST(FleetSeries, ThatClimbsMoreThanOnOtherMorningsLeaks) {
  const JudgedSeries series = judged([](double t) { return wave(t) + 2 * climb(t); });
  const auto load =
      wave_of(day_before([](double t) { return wave(t) + 500; }), series.series.samples);
  ASSERT_TRUE(load.has_value());
  EXPECT_EQ(judge_after(series, *load).word, Word::leak);
}

TEST(FleetSeries, ThatIsBusierThanYesterdayDoesNotLeak) {
  const JudgedSeries series = judged([](double t) { return 400 + 1.3 * (wave(t) - 400); });
  const auto load = wave_of(day_before(wave), series.series.samples);
  ASSERT_TRUE(load.has_value());
  EXPECT_NE(judge_after(series, *load).word, Word::leak);
}

TEST(FleetSeries, ThatClimbsWithItsWorkDoesNotLeak) {
  std::vector<Sample> work = curve(wave, 300);
  const SeriesVerdict verdict = judge_under_load(
      judged(wave), {.source = LoadSource::work, .wave = {}, .work = std::move(work)});
  EXPECT_NE(verdict.word, Word::leak);
}

TEST(FleetSeries, ThatClimbsWithNothingToldOfItsLoadIsHeldBack) {
  const SeriesVerdict verdict = judge_under_load(judged(climb), {});
  EXPECT_EQ(verdict.word, Word::undecided);
  EXPECT_TRUE(verdict.held_back);
  EXPECT_LT(verdict.log_factor, 3);
}

TEST(FleetSeries, ThatIsLevelIsNoSuspect) {
  EXPECT_FALSE(is_suspect(judge_at_level_load(judged(level))));
}

TEST(FleetSeries, ThatIsKilledAndClimbsAnewLeaks) {
  JudgedSeries series = judged([](double t) { return climb(3 * std::fmod(t, 2 * kHour)); });
  series.series.life_begins = {kBegin + 2 * kHour, kBegin + 4 * kHour};
  const SeriesVerdict verdict = judge_at_level_load(series);
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_EQ(verdict.lives, 3U);
}

TEST(FleetSeries, ThatIsOldDriftsOnlyIfTheDayBeforeIsKnown) {
  JudgedSeries series = judged(climb);
  series.established = true;
  EXPECT_TRUE(is_suspect(judge_at_level_load(series)));
  EXPECT_EQ(judge_under_load(series, {}).drift.way, Drift::Way::none);
  const auto load = wave_of(day_before(level), series.series.samples);
  ASSERT_TRUE(load.has_value());
  EXPECT_EQ(judge_after(series, *load).drift.way, Drift::Way::climbs);
  // A wave that is the day's is no drift, and what is young has none.
  JudgedSeries morning = judged(wave);
  morning.established = true;
  const auto same = wave_of(day_before(wave), morning.series.samples);
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(judge_after(morning, *same).drift.way, Drift::Way::none);
  EXPECT_EQ(judge_after(judged(climb), *load).drift.way, Drift::Way::none);
}

TEST(DailyLoad, OfALeakThatNeverCameDownIsLevel) {
  const JudgedSeries series = judged([](double t) { return climb(t) + 1200; });
  const auto load = wave_of(day_before(climb), series.series.samples);
  ASSERT_TRUE(load.has_value());
  EXPECT_EQ(judge_after(series, *load).word, Word::leak);
}

TEST(DailyLoad, OfAnotherProcessThatClimbedTellsNothing) {
  EXPECT_FALSE(wave_of(day_before(climb, false), judged(climb).series.samples).has_value());
  EXPECT_TRUE(wave_of(day_before(level, false), judged(climb).series.samples).has_value());
}

TEST(DailyLoad, OfTooFewSamplesTellsNothing) {
  EarlierDay brief = day_before(level);
  brief.samples.resize(5);
  EXPECT_FALSE(wave_of(brief, judged(climb).series.samples).has_value());
  EXPECT_FALSE(wave_of(day_before(level), {}).has_value());
}

}  // namespace
}  // namespace plateau::fleet
