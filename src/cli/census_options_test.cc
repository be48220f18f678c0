// SPDX-License-Identifier: Apache-2.0
#include "cli/census_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plateau {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CensusSentence, NothingIsSaidWhereThereWasNoCauseToLook) {
  EXPECT_EQ(census_sentence({}), "");
}

TEST(CensusSentence, ALookThatWasNeverAllowedIsNamedWithWhatItWouldHaveCost) {
  const std::string said = census_sentence({.awaited_s = 0.24});
  EXPECT_THAT(said, HasSubstr("a look would stop the job for about 240 ms"));
  EXPECT_THAT(said, HasSubstr("--census-share"));
  EXPECT_THAT(said, Not(HasSubstr("was stopped")));
}

TEST(CensusSentence, TwoLooksLackNothing) {
  const std::string said = census_sentence({.looks = 2, .stopped_s = 0.1});
  EXPECT_THAT(said, HasSubstr("stopped twice"));
  EXPECT_THAT(said, HasSubstr("for 100 ms in all"));
  EXPECT_THAT(said, Not(HasSubstr("not known")));
}

TEST(CensusSentence, OfAJobThatIsOverNothingNeedsItsPid) {
  const CensusWatch::Cost one_look{.looks = 1, .stopped_s = 0.1};
  EXPECT_THAT(census_sentence(one_look), HasSubstr("profile PID"));
  EXPECT_THAT(census_sentence(one_look, true), Not(HasSubstr("PID")));
  EXPECT_THAT(census_sentence(one_look, true), HasSubstr("--census-share 10"));
}

TEST(CensusSentence, WhyALookFailedIsQuoted) {
  const std::string said = census_sentence({.looks = 1, .stopped_s = 0.1, .trouble = "it is busy"});
  EXPECT_THAT(said, HasSubstr("not known: it is busy"));
}

TEST(CensusSentence, ALookThatCameTooEarlyIsCountedAmongTheStops) {
  const std::string three = census_sentence({.looks = 2, .early = 1, .stopped_s = 0.2});
  EXPECT_THAT(three, HasSubstr("stopped 3 times"));
  EXPECT_THAT(three, Not(HasSubstr("not known")));
  const std::string one = census_sentence({.early = 1, .stopped_s = 0.1});
  EXPECT_THAT(one, HasSubstr("stopped once"));
  EXPECT_THAT(one, HasSubstr("not known: the look that was taken came before the work had begun"));
}

TEST(CensusSentence, LooksThatSawNothingGrowSayIt) {
  const std::string said = census_sentence({.looks = 1, .empty = 2, .stopped_s = 0.3});
  EXPECT_THAT(said, HasSubstr("stopped 3 times"));
  EXPECT_THAT(said, HasSubstr("not known: nothing that Python holds had grown by ten items"));
}

}  // namespace
}  // namespace plateau
