// SPDX-License-Identifier: Apache-2.0
#include "report/census.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plateau {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Census example(uint64_t lists, uint64_t tensors) {
  return {.pid = 4242,
          .minor = 11,
          .types = {{.type = "list", .objects = lists, .bytes = lists * 72},
                    {.type = "dict", .objects = 375, .bytes = 69'260'912},
                    {.type = "torch.Tensor", .objects = tensors, .bytes = 800, .tensor = true},
                    {.type = "evil\x1b[31mred", .objects = 1, .bytes = 56}},
          .objects = lists + 375 + tensors + 1,
          .stopped_s = 0.0742,
          .bytes_read = 1000};
}

TEST(CensusReport, SaysWhatIsThereAndHowLongTheTargetStood) {
  const std::string text = render_census(example(750'110, 11), View{}, 20);
  EXPECT_THAT(text, HasSubstr("pid 4242: CPython 3.11, 750,497 objects of 4 types; stopped 74 ms"));
  EXPECT_THAT(text, HasSubstr("     750,110   54.0 MB  list\n"));
  EXPECT_THAT(text, HasSubstr("          11     800 B  torch.Tensor\n"));
  EXPECT_THAT(text, HasSubstr("11 torch tensors"));
  EXPECT_THAT(text, AllOf(HasSubstr("not tracked"), HasSubstr("sys.getsizeof")));
}

TEST(CensusReport, TypesBeyondTheTopAreSummed) {
  const std::string text = render_census(example(1000, 11), View{}, 1);
  EXPECT_THAT(text, HasSubstr("         387   69.3 MB  3 more types\n"));
}

TEST(CensusReport, NamesFromTheTargetCannotReachTheTerminal) {
  const Census census = example(1, 1);
  const CensusPair pair{census, census, 1};
  EXPECT_THAT(render_census(census, View{}, 20), Not(HasSubstr("\x1b")));
  EXPECT_THAT(render_census_growth(pair, View{}, 20), Not(HasSubstr("\x1b")));
  EXPECT_THAT(census_json(census, 0), Not(HasSubstr("\x1b")));
}

TEST(CensusReport, GrowthListsTheMostGrowingFirst) {
  const Census before = example(1000, 11);
  const Census after = example(3000, 4011);
  const std::string text = render_census_growth({before, after, 10}, View{}, 20);
  EXPECT_THAT(text, HasSubstr("1,387 → 7,387 objects in 10 s; stopped 74 ms and 74 ms"));
  EXPECT_LT(text.find("+4,000"), text.find("+2,000"));
  EXPECT_THAT(text, HasSubstr("      +2,000        3,000    +144 kB  list\n"));
  EXPECT_THAT(text, HasSubstr("0 types shrank, 2 kept their number"));
  EXPECT_THAT(text, HasSubstr("11 → 4,011 tensors"));
}

TEST(CensusReport, NothingGrownIsSaid) {
  const Census census = example(1000, 0);
  EXPECT_THAT(render_census_growth({census, census, 10}, View{}, 20),
              HasSubstr("no type has more objects than before"));
}

TEST(CensusReport, JsonHoldsEveryTypeUnlessCut) {
  const Census census = example(1000, 11);
  EXPECT_THAT(
      census_json(census, 1),
      HasSubstr(R"("types":[{"type":"list","objects":1000,"bytes":72000,"tensor":false}])"));
  EXPECT_THAT(census_json(census, 0),
              HasSubstr(R"({"type":"torch.Tensor","objects":11,"bytes":800,"tensor":true})"));
  EXPECT_THAT(census_growth_json({census, example(1500, 11), 10}, 1),
              AllOf(HasSubstr(R"("seconds":10)"),
                    HasSubstr(R"("types":[{"type":"list","objects_grown":500,)")));
}

}  // namespace
}  // namespace plateau
