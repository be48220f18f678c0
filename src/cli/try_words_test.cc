// SPDX-License-Identifier: Apache-2.0
#include "cli/try_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plateau {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr GrowthLook kGrows{.seconds = 2, .mb_per_s = 10, .grows = true};
constexpr GrowthLook kLevel{.seconds = 2, .mb_per_s = 0.01, .grows = false};

std::string told(const GrowthAround& growth, TrialResult finding = TrialResult::retention) {
  ExperimentOutcome outcome;
  outcome.finding = finding;
  outcome.before.resident.rss = 153'000'000;
  outcome.after.resident.rss = finding == TrialResult::retention ? 100'000'000 : 153'000'000;
  return conclusion(4242, outcome, growth);
}

TEST(TryWords, RetentionBesideALeakSaysHowMuchCameBackAndThatTheRestGrowsOn) {
  const std::string text = told({kGrows, kGrows});
  EXPECT_THAT(text, HasSubstr("Retention: resident memory fell by 53.0 MB"));
  EXPECT_THAT(text, HasSubstr("Memory grows on: +10.0 MB/s in the 2 s before"));
  EXPECT_THAT(text, HasSubstr("'plateau watch 4242' tells"));
}

TEST(TryWords, NothingIsEverCalledNoLeak) {
  for (const TrialResult finding : {TrialResult::retention, TrialResult::neither}) {
    for (const GrowthAround& growth :
         {GrowthAround{kGrows, kGrows}, GrowthAround{kLevel, kGrows}, GrowthAround{kGrows, kLevel},
          GrowthAround{kLevel, kLevel}, GrowthAround{}}) {
      EXPECT_THAT(told(growth, finding), Not(HasSubstr("not a leak")));
    }
  }
}

TEST(TryWords, ARiseAfterwardsAloneDoesNotDecide) {
  EXPECT_THAT(told({kLevel, kGrows}), HasSubstr("used again, or it grows. This alone does not"));
  EXPECT_FALSE((GrowthAround{kLevel, kGrows}).goes_on());
}

TEST(TryWords, WhereNobodyLookedThatIsSaid) {
  EXPECT_THAT(told({}), HasSubstr("Whether the rest grows was not measured."));
}

}  // namespace
}  // namespace plateau
