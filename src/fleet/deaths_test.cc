// SPDX-License-Identifier: Apache-2.0
#include "fleet/deaths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace plateau::fleet {
namespace {

constexpr double kLife = 7200;
constexpr double kEvery = 30;

// Three lives of two hours, each with the same curve over a share of its time.
LifeSeries three_lives(const std::function<double(double)>& mb) {
  LifeSeries series;
  for (int life = 0; life < 3; ++life) {
    if (life > 0) series.life_begins.push_back(life * kLife);
    for (double at = 0; at < kLife; at += kEvery) {
      series.samples.push_back({life * kLife + at, mb(at / kLife)});
    }
  }
  return series;
}

TEST(Deaths, AreLivesThatClimbToTheirLimitAndEnd) {
  const LifeSeries series = three_lives([](double share) { return 112 + 411 * share; });
  const Deaths deaths = deaths_at_limit(series, 523);
  EXPECT_EQ(deaths.count, 2U);  // The third has not ended.
  EXPECT_NEAR(deaths.rate_mb_per_s * 3600, 205, 2);
  EXPECT_NEAR(deaths.longest_s, kLife, 2 * kEvery);
}

TEST(Deaths, MayBeStairsAndSaws) {
  const auto stairs = [](double share) { return 100 + 100 * std::floor(4.9 * share); };
  EXPECT_EQ(deaths_at_limit(three_lives(stairs), 520).count, 2U);
  const auto saw = [](double share) { return 300 + 200 * share + 80 * std::fmod(20 * share, 1); };
  EXPECT_EQ(deaths_at_limit(three_lives(saw), 570).count, 2U);
}

TEST(Deaths, AreNotEndsOfWhatIsLevelBelowItsLimit) {
  const auto heap = [](double share) { return 480 * (1 - std::exp(-30 * share)); };
  EXPECT_EQ(deaths_at_limit(three_lives(heap), 500).count, 0U);
}

TEST(Deaths, AreNotEndsFarFromTheLimit) {
  const LifeSeries series = three_lives([](double share) { return 112 + 411 * share; });
  EXPECT_EQ(deaths_at_limit(series, 700).count, 0U);
}

TEST(Deaths, AreNotCountedOfLivesThatAreTooBrief) {
  LifeSeries series;
  for (int i = 0; i < 60; ++i) series.samples.push_back({kEvery * i, 100.0 + i % 6 * 80});
  for (int life = 1; life < 10; ++life) series.life_begins.push_back(kEvery * 6 * life);
  EXPECT_EQ(deaths_at_limit(series, 500).count, 0U);
  EXPECT_EQ(deaths_at_limit(LifeSeries{}, 500).count, 0U);
}

}  // namespace
}  // namespace plateau::fleet
