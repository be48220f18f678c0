// SPDX-License-Identifier: Apache-2.0
#include "verdict/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plateau {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Level at 1000 MB from step 83 on, with one spike and a wobble of 40 MB.
Verdict level() {
  Verdict verdict;
  verdict.word = Word::plateau;
  verdict.last_step = 150;
  verdict.settled = Verdict::Settled{83, 1000, {990, 1010}};
  verdict.plot = {{10, 200, false},
                  {83, 980, false},
                  {100, 1020, false},
                  {120, 5000, true},
                  {150, 1000, false}};
  return verdict;
}

TEST(Expectation, ALevelRunMeetsWordStepAndSpread) {
  EXPECT_THAT(unmet(level(), {Word::plateau, 90, 500}), IsEmpty());
}

TEST(Expectation, SpikesDoNotCountAgainstTheSpread) {
  EXPECT_DOUBLE_EQ(spread_from(level(), 83).value(), 40);
}

TEST(Expectation, SettlingTooLateIsSaidWithTheStep) {
  EXPECT_THAT(unmet(level(), {Word::plateau, 50, std::nullopt}),
              ElementsAre(HasSubstr("settled at step 83, not by 50")));
}

TEST(Expectation, TooWideALevelIsSaidWithItsWidth) {
  EXPECT_THAT(unmet(level(), {Word::plateau, 83, 30}), ElementsAre(HasSubstr("varies by 40.0 MB")));
}

TEST(Expectation, AnotherWordIsNamed) {
  Verdict leak = level();
  leak.word = Word::leak;
  leak.settled.reset();
  leak.rate_mb_per_step = 3;
  EXPECT_THAT(unmet(leak, {Word::plateau, 90, std::nullopt}),
              ElementsAre("expected plateau, found leak",
                          HasSubstr("has not settled by step 90: it grows by 3.00 MB per step")));
}

TEST(Expectation, ARunThatEndsBeforeTheStepProvesNothing) {
  EXPECT_THAT(unmet(level(), {Word::plateau, 200, std::nullopt}),
              ElementsAre(HasSubstr("ends at step 150, before 200")));
}

}  // namespace
}  // namespace plateau
