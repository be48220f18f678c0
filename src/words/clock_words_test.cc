// SPDX-License-Identifier: Apache-2.0
#include "words/clock_words.h"

#include <gmock/gmock.h>

namespace plateau {
namespace {

using ::testing::HasSubstr;

ClockGrowth grown(GrowthClock clock, size_t events, double mb, double share, double expected) {
  return {.clock = clock,
          .events = events,
          .mb_per_event = mb,
          .range = Interval{0.9 * mb, 1.1 * mb},
          .share = share,
          .share_expected = expected};
}

TEST(ClockWords, AnEventThatIsFollowedIsTheWholeStory) {
  std::vector<ClockGrowth> clocks = {grown(GrowthClock::step, 1000, 0.0, 0.0, 0.8),
                                     grown(GrowthClock::eval, 6, 80, 1.0, 0.18)};
  clocks[1].follows = true;
  EXPECT_EQ(clock_growth_words({}, clocks, 1),
            "grows by 80.0 MB at each evaluation, nothing in between");
  EXPECT_THAT(clock_growth_words({}, clocks, 0), HasSubstr("add nothing"));
}

TEST(ClockWords, GrowthPerStepClearsTheEvents) {
  std::vector<ClockGrowth> clocks = {grown(GrowthClock::step, 1000, 0.8, 0.82, 0.82),
                                     grown(GrowthClock::eval, 6, 0.1, 0.18, 0.18)};
  clocks[0].follows = true;
  EXPECT_EQ(clock_growth_words({}, clocks, 0),
            "grows with every step, by 800 kB; evaluations make no difference");
  EXPECT_EQ(clock_growth_words({}, clocks, 1), "evaluations make no difference");
}

TEST(ClockWords, EventsThatComeTogetherAreNotSeparated) {
  std::vector<ClockGrowth> clocks = {grown(GrowthClock::eval, 6, 80, 1.0, 0.18),
                                     grown(GrowthClock::checkpoint, 6, 80, 1.0, 0.18)};
  clocks[0].follows = clocks[1].follows = true;
  EXPECT_THAT(clock_growth_words({}, clocks, 0),
              HasSubstr("checkpoints come at the same time and cannot be separated"));
}

TEST(ClockWords, TooFewEventsSaySo) {
  const std::vector<ClockGrowth> clocks = {{.clock = GrowthClock::eval, .events = 2, .share = 0.5}};
  EXPECT_EQ(clock_growth_words({}, clocks, 0),
            "only two evaluations while memory grew: too few to tell");
}

}  // namespace
}  // namespace plateau
