// SPDX-License-Identifier: Apache-2.0
#include "fleet/discoveries.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace plateau::fleet {
namespace {

std::vector<Suspicion> fleet_of(size_t calm, size_t leaks, double log_factor) {
  std::vector<Suspicion> all(calm, {.log_factor = std::log(0.3)});
  all.insert(all.end(), leaks, {.log_factor = log_factor, .still_filling = 0, .accused = true});
  return all;
}

TEST(Discoveries, OfACalmFleetAreNone) {
  EXPECT_TRUE(discover(fleet_of(600, 0, 0), 0.1).listed.empty());
  EXPECT_TRUE(discover({}, 0.1).listed.empty());
}

TEST(Discoveries, FindTheFewSureOnesAmongMany) {
  const Discoveries found = discover(fleet_of(594, 6, 12), 0.1);
  EXPECT_EQ(found.listed.size(), 6U);
  EXPECT_NEAR(found.null_share, 0.99, 0.01);
  EXPECT_LT(found.expected_false_share, 0.01);
  EXPECT_TRUE(found.bounded.back());
  EXPECT_FALSE(found.bounded.front());
}

TEST(Discoveries, NeedMoreEvidenceInALargerFleet) {
  EXPECT_EQ(discover(fleet_of(10, 1, 5), 0.1).listed.size(), 1U);
  EXPECT_TRUE(discover(fleet_of(10'000, 1, 5), 0.1).listed.empty());
}

TEST(Discoveries, LeaveOutWhoIsNoLeakByItsOwnVerdict) {
  std::vector<Suspicion> all = fleet_of(10, 1, 12);
  all.back().accused = false;
  EXPECT_TRUE(discover(all, 0.1).listed.empty());
}

TEST(Discoveries, LeaveOutWhatMayWellStillBeFilling) {
  std::vector<Suspicion> all = fleet_of(100, 1, 30);
  all.back().still_filling = 0.5;
  EXPECT_TRUE(discover(all, 0.1).listed.empty());
}

TEST(Discoveries, OfOneWorkloadAloneArePossible) {
  EXPECT_EQ(discover(fleet_of(0, 1, 8), 0.1).listed.size(), 1U);
}

// Scores of a test that knows its model: of the list, no more is false than was asked for.
TEST(Discoveries, HoldTheShareThatWasAskedFor) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise;
  constexpr double kShift = 4;
  size_t listed = 0, wrong = 0, bounded = 0, bounded_wrong = 0;
  for (int fleet = 0; fleet < 100; ++fleet) {
    std::vector<Suspicion> all;
    for (int i = 0; i < 600; ++i) {
      const double z = noise(random) + (i < 12 ? kShift : 0);
      all.push_back({.log_factor = kShift * z - kShift * kShift / 2, .accused = true});
    }
    const Discoveries found = discover(all, 0.1);
    for (const size_t i : found.listed) ++listed, wrong += i >= 12;
    for (size_t i = 0; i < all.size(); ++i) {
      bounded += found.bounded[i], bounded_wrong += found.bounded[i] && i >= 12;
    }
  }
  EXPECT_GT(listed, 1000U);  // Of 1,200.
  EXPECT_LT(static_cast<double>(wrong), 0.1 * static_cast<double>(listed));
  EXPECT_LT(bounded, listed);
  EXPECT_LE(static_cast<double>(bounded_wrong), 0.02 * static_cast<double>(bounded));
}

TEST(MeanFactor, OfSeveralIsBetweenThem) {
  EXPECT_DOUBLE_EQ(log_mean_factor(std::vector<double>{3}), 3);
  EXPECT_DOUBLE_EQ(log_mean_factor(std::vector<double>{3, 3, 3}), 3);
  std::vector<double> factors(63, -30);
  factors.push_back(12);
  EXPECT_NEAR(log_mean_factor(factors), 12 - std::log(64), 0.01);
}

}  // namespace
}  // namespace plateau::fleet
