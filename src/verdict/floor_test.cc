// SPDX-License-Identifier: Apache-2.0
#include "verdict/floor.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

std::vector<TimedValue> at_each_step(const std::vector<double>& mb) {
  std::vector<TimedValue> points;
  for (size_t i = 0; i < mb.size(); ++i) points.push_back({static_cast<double>(i), mb[i]});
  return points;
}

TEST(Floors, NarrowSpikeLeavesTheFloorAndIsReported) {
  std::vector<double> mb(30, 50.0);
  mb[10] = 320;
  const Floors floors = find_floors(at_each_step(mb), 28);
  EXPECT_DOUBLE_EQ(floors.level_mb, 50);
  ASSERT_EQ(floors.spikes.size(), 1u);
  EXPECT_DOUBLE_EQ(floors.spikes[0].height_mb, 270);
  EXPECT_DOUBLE_EQ(floors.spikes[0].peak_mb, 320);
}

TEST(Floors, StaircaseAndClimbAreLeftAsTheyAre) {
  std::vector<double> mb;
  for (int i = 0; i < 24; ++i) mb.push_back(100 + 10 * (i / 6) + 0.1 * i);
  const Floors floors = find_floors(at_each_step(mb), 28);
  EXPECT_EQ(floors.mb, mb);
  EXPECT_TRUE(floors.spikes.empty());
}

TEST(Floors, HighLastValueWaitsUntilItIsKnownToBeASpikeOrAStep) {
  std::vector<double> mb(20, 100.0);
  mb.push_back(300);
  EXPECT_EQ(find_floors(at_each_step(mb), 28).pending, 1u);
  mb.push_back(300);
  mb.push_back(300);
  const Floors later = find_floors(at_each_step(mb), 28);
  EXPECT_EQ(later.pending, 0u);
  EXPECT_DOUBLE_EQ(later.level_mb, 300);
}

TEST(Floors, LongSeriesIsCutIntoStretchMinima) {
  std::vector<double> mb;
  for (int i = 0; i < 280; ++i) mb.push_back(100 + (i % 10));
  const Floors floors = find_floors(at_each_step(mb), 28);
  EXPECT_EQ(floors.mb.size(), 28u);
  EXPECT_LE(floors.range_mb, 1.0);
}

TEST(Floors, StretchesAreAsLongAsTheTeethOfASaw) {
  std::vector<double> mb;
  for (int i = 0; i < 600; ++i) mb.push_back(48 + 0.3 * (i % 100));
  const Floors floors = find_floors(at_each_step(mb), 28);
  EXPECT_EQ(floors.mb.size(), 6u);
  EXPECT_LE(floors.range_mb, 1.0);
}

TEST(Floors, TwoTeethAreNoSaw) {
  std::vector<double> mb;
  for (int i = 0; i < 300; ++i) mb.push_back(48 + 0.3 * (i % 100));
  EXPECT_EQ(find_floors(at_each_step(mb), 28).mb.size(), 28u);
}

TEST(Floors, TeethAreMeasured) {
  std::vector<double> mb;
  for (int i = 0; i < 100; ++i) mb.push_back(100 + 3 * (i % 20));
  const Floors floors = find_floors(at_each_step(mb), 28);
  EXPECT_NEAR(floors.teeth_period, 20, 1);
  EXPECT_GT(floors.teeth_mb, 40);
}

TEST(Floors, NoPointsGiveNoFloors) {
  EXPECT_TRUE(find_floors({}, 28).at.empty());
}

}  // namespace
}  // namespace plateau
