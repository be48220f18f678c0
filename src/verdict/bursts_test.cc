// SPDX-License-Identifier: Apache-2.0
#include "verdict/bursts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "verdict/policy.h"
#include "verdict/test_runs.h"

namespace plateau {
namespace {

Floors floors_of(double steps, const std::function<double(double)>& curve) {
  std::vector<TimedValue> points;
  for (double step = 2; step <= steps; step += 2) points.push_back({step, curve(step)});
  return find_floors(points, Policy::Tuning().floors);
}

TEST(Bursts, AStaircaseHasAsManyAsItHasSteps) {
  const Floors floors = floors_of(400, [](double t) { return 200 + 25 * std::floor(t / 100); });
  const Bursts bursts = find_bursts(floors, 10);
  EXPECT_EQ(bursts.count, 3u);
  EXPECT_NEAR(bursts.until, 300, 20);
}

TEST(Bursts, AWarmUpIsOne) {
  const Floors floors =
      floors_of(400, [](double t) { return 200 + 100 * (1 - std::exp(-t / 40)); });
  EXPECT_EQ(find_bursts(floors, 10).count, 1u);
}

TEST(Bursts, TeethThatComeBackAreNone) {
  const Floors floors = floors_of(400, [](double t) { return 200 + std::fmod(t, 100) / 2; });
  EXPECT_LE(find_bursts(floors, 30).count, 1u);
}

TEST(Bursts, OneBurstSaysNothingOfAnother) {
  const Floors floors = floors_of(400, [](double t) { return t < 50 ? 100.0 : 200.0; });
  EXPECT_EQ(more_to_come(find_bursts(floors, 10), floors), 0);
}

TEST(Bursts, ThePauseAfterTwoBurstsCountsForWhatItIsAndNoMore) {
  const auto two_steps = [](double t) { return 200 + (t > 100 ? 25 : 0) + (t > 200 ? 25 : 0); };
  const Floors soon = floors_of(300, two_steps);
  const Floors late = floors_of(900, two_steps);
  EXPECT_GT(more_to_come(find_bursts(soon, 10), soon), 0.05);
  EXPECT_LT(more_to_come(find_bursts(late, 10), late), 0.03);
}

TEST(Bursts, WhatClimbedAndFellOnceMayClimbAnew) {
  const auto fell = [](double t) { return t <= 300 ? 200 + t : 300.0; };
  const Floors soon = floors_of(340, fell);
  const Floors late = floors_of(3000, fell);
  EXPECT_GT(climbs_anew(soon, 10), 0.15);
  EXPECT_LT(climbs_anew(late, 10), 0.05);
}

TEST(Bursts, ALevelThatIsGivenBackWasNoClimb) {
  EXPECT_EQ(climbs_anew(floors_of(400, [](double t) { return t < 200 ? 500.0 : 300.0; }), 10), 0);
  EXPECT_EQ(climbs_anew(floors_of(400, [](double t) { return 200 + t; }), 10), 0);
}

TEST(Bursts, FromTheSecondFallOnItIsASawtooth) {
  const Floors floors = floors_of(900, [](double t) { return 200 + std::fmod(t, 300); });
  EXPECT_EQ(climbs_anew(floors, 10), 0);
}

}  // namespace
}  // namespace plateau
