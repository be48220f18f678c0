// SPDX-License-Identifier: Apache-2.0
#include "session/census_process.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

TEST(CensusProcess, AStopMayTakeSeveralTimesItsEstimateOnABusyMachine) {
  const LookRequest first = {.most_estimate_s = 0.25, .left_s = 0.3};
  EXPECT_EQ(most_stop_s(0.025, first), 0.1);
  EXPECT_EQ(most_stop_s(0.001, first), 0.05);
  EXPECT_EQ(most_stop_s(0.2, first), 0.25);
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

}  // namespace
}  // namespace plateau
