// SPDX-License-Identifier: Apache-2.0
#include "fleet/drift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace plateau::fleet {
namespace {

// Six hours at 30 s of a curve over a share of the window, with a little noise.
std::vector<Sample> window(const std::function<double(double)>& mb) {
  std::vector<Sample> samples;
  for (int i = 0; i < 720; ++i) {
    samples.push_back({1.7e9 + 30 * i, mb(i / 719.0) + 0.5 * std::sin(i * 12.9898)});
  }
  return samples;
}

Drift::Way way_of(const std::function<double(double)>& mb) {
  return drift_of(window(mb)).way;
}

TEST(Drift, IsAClimbInLinesStairsAndSaws) {
  EXPECT_EQ(way_of([](double at) { return 300 + 60 * at; }), Drift::Way::climbs);
  EXPECT_EQ(way_of([](double at) { return 300 + 30 * std::floor(11.9 * at); }), Drift::Way::climbs);
  EXPECT_EQ(way_of([](double at) { return 300 + 60 * at + 90 * std::fmod(40 * at, 1); }),
            Drift::Way::climbs);
  EXPECT_NEAR(drift_of(window([](double at) { return 300 + 60 * at; })).rate_mb_per_s * 21'600, 60,
              2);
}

TEST(Drift, RunsBackwardsInWhatFalls) {
  EXPECT_EQ(way_of([](double at) { return 360 - 60 * at; }), Drift::Way::falls);
  EXPECT_LT(drift_of(window([](double at) { return 360 - 60 * at; })).rate_mb_per_s, 0);
}

TEST(Drift, IsNoneInWhatIsLevelWandersOrGrowsByNothing) {
  EXPECT_EQ(way_of([](double /*at*/) { return 300; }), Drift::Way::none);
  EXPECT_EQ(way_of([](double at) { return 300 + 40 * std::sin(9 * at); }), Drift::Way::none);
  EXPECT_EQ(way_of([](double at) { return 300 + 3 * at; }), Drift::Way::none);
}

TEST(Drift, IsNoneInOneStepAndInGrowthThatHasEnded) {
  EXPECT_EQ(way_of([](double at) { return at < 0.4 ? 300 : 500; }), Drift::Way::none);
  EXPECT_EQ(way_of([](double at) { return 300 + 200 * std::min(1.0, 4 * at); }), Drift::Way::none);
}

// A heap that takes one more arena in six hours, and a page now and then.
TEST(Drift, IsNoneInOneStepBetweenLevelsThatCreep) {
  EXPECT_EQ(way_of([](double at) { return 300 + 0.5 * at + (at < 0.6 ? 0 : 9); }),
            Drift::Way::none);
  EXPECT_EQ(way_of([](double at) { return 310 - 0.5 * at - (at < 0.6 ? 0 : 9); }),
            Drift::Way::none);
}

TEST(Drift, IsNoneWhereHoursAreMissing) {
  std::vector<Sample> samples = window([](double at) { return 300 + 60 * at; });
  samples.erase(samples.begin() + 200, samples.begin() + 400);
  EXPECT_EQ(drift_of(samples).way, Drift::Way::none);
  EXPECT_EQ(drift_of({}).way, Drift::Way::none);
}

}  // namespace
}  // namespace plateau::fleet
