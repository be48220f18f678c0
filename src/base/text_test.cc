// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace plateau {
namespace {

TEST(Text, TrimTakesLineEndsToo) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
}

TEST(Text, FindIgnoresCaseButNotOrder) {
  EXPECT_EQ(find_ignoring_case("Num Examples = 663", "num examples"), 0u);
  EXPECT_EQ(find_ignoring_case("xNUM", "num"), 1u);
  EXPECT_EQ(find_ignoring_case("mun", "num"), std::string_view::npos);
  EXPECT_EQ(find_ignoring_case("nu", "num"), std::string_view::npos);
}

TEST(Text, NumbersMustFillTheWholeText) {
  EXPECT_EQ(*parse_double(" 5.5 "), 5.5);
  EXPECT_EQ(*parse_double("+3e2"), 300);
  EXPECT_FALSE(parse_double("5 MB"));
  EXPECT_FALSE(parse_double(""));
  EXPECT_EQ(*parse_int("-4"), -4);
  EXPECT_FALSE(parse_int("4.0"));
  EXPECT_FALSE(parse_int("99999999999999999999"));
}

TEST(Text, ShortDecimalsAreExactToo) {
  for (const char* text :
       {"0.1", "336.762", "123456789012.345", "0.000000000001", "99999999.999999",
        "1234567890123456", "12345678901234567.5", "7.", "5.25"}) {
    EXPECT_EQ(parse_double(text).value_or(-1), std::strtod(text, nullptr)) << text;
  }
  EXPECT_FALSE(parse_double("1.2.3"));
  EXPECT_FALSE(parse_double("1.x"));
}

TEST(Text, WordsComeOneByOne) {
  std::string_view rest = "  a  bc ";
  EXPECT_EQ(next_word(rest), "a");
  EXPECT_EQ(next_word(rest), "bc");
  EXPECT_EQ(next_word(rest), "");
}

TEST(TakePart, TakesUpToTheSeparatorAndThenTheRest) {
  std::string_view rest = "a::b";
  EXPECT_EQ(take_part(rest, ':'), "a");
  EXPECT_EQ(take_part(rest, ':'), "");
  EXPECT_EQ(take_part(rest, ':'), "b");
  EXPECT_TRUE(rest.empty());
}

}  // namespace
}  // namespace plateau
