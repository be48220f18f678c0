// SPDX-License-Identifier: Apache-2.0
#include "command/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace plateau {
namespace {

TEST(EditDistance, CountsEditsAndSwaps) {
  EXPECT_EQ(edit_distance("judge", "judge"), 0U);
  EXPECT_EQ(edit_distance("jugde", "judge"), 1U);
  EXPECT_EQ(edit_distance("judg", "judge"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(DidYouMean, NearestCandidateOrNothing) {
  const std::vector<std::string> verbs = {"judge", "convert", "completion"};
  EXPECT_EQ(did_you_mean("jugde", verbs), " (did you mean 'judge'?)");
  EXPECT_EQ(did_you_mean("comp", verbs), " (did you mean 'completion'?)");
  EXPECT_EQ(did_you_mean("serve", verbs), "");
  EXPECT_EQ(did_you_mean("x", {}), "");
}

}  // namespace
}  // namespace plateau
