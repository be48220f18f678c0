// SPDX-License-Identifier: Apache-2.0
#include "session/census_process.h"

#include <gtest/gtest.h>

#include "session/census_watch.h"

namespace plateau {
namespace {

TEST(CensusProcess, AStopMayTakeSeveralTimesItsEstimateOnABusyMachine) {
  const LookRequest first = {.most_estimate_s = 0.25, .left_s = 0.3};
  EXPECT_EQ(most_stop_s(0.025, first), 0.1);
  EXPECT_EQ(most_stop_s(0.001, first), 0.05);
  EXPECT_EQ(most_stop_s(0.2, first), 0.75);
  EXPECT_EQ(most_stop_s(0.26, first), std::nullopt);
}

TEST(CensusProcess, ATryAfterOneInVainMayTakeTwiceAsLongOnceThatIsPaidFor) {
  EXPECT_EQ(most_stop_s(0.025, {.failures = 1, .most_estimate_s = 0.2, .left_s = 0.2}), 0.2);
  EXPECT_EQ(most_stop_s(0.025, {.failures = 2, .most_estimate_s = 0.2, .left_s = 0.2}), 0.2);
  EXPECT_EQ(most_stop_s(0.025, {.failures = 2, .most_estimate_s = 0.2, .left_s = 0.12}),
            std::nullopt)
      << "hardly longer than the one in vain";
  EXPECT_EQ(most_stop_s(0.025, {.failures = 2, .most_estimate_s = 0.25, .left_s = 5}), 0.4);
}

// What torch brings, transformers with it, TRL with both, and a model of Qwen2.5-VL under peft.
TEST(CensusProcess, ALookInVainIsTriedAgainInTheFirstHalfMinuteHoweverManyObjectsTorchBrings) {
  for (const double objects : {150e3, 290e3, 440e3, 630e3}) {
    const double estimate_s = 0.003 + 0.25e-6 * objects;
    const double first_s =
        *most_stop_s(estimate_s, {.most_estimate_s = 0.25, .left_s = CensusWatch::kOnceS});
    const double left_s = CensusWatch::kRetriesS + CensusWatch::kDefaultShare * 30 - first_s;
    EXPECT_GT(most_stop_s(estimate_s, {.failures = 1, .most_estimate_s = 0.25, .left_s = left_s}),
              1.2 * first_s)
        << objects << " objects";
  }
}

TEST(CensusProcess, TwoLooksAtWhatAVisionModelBringsFitIntoTheFirstMinute) {
  const double estimate_s = 0.003 + 0.25e-6 * 630e3;
  EXPECT_LE(2 * 1.5 * estimate_s, CensusWatch::kOnceS + CensusWatch::kDefaultShare * 60);
}

TEST(CensusProcess, AFrameworkIsLoadingAndAFormatsReaderIsWork) {
  EXPECT_TRUE(was_loading(900, 2500));
  EXPECT_FALSE(was_loading(2500, 2510));
  EXPECT_FALSE(was_loading(2500, 2490));
}

}  // namespace
}  // namespace plateau
