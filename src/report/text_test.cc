// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <gmock/gmock.h>

namespace plateau {
namespace {

using ::testing::ElementsAre;

TEST(DisplayWidth, WideAndCombiningCharactersAreCounted) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("\U0001F600"), 2U);
}

TEST(Wrap, BreaksAtSpacesAndKeepsWords) {
  EXPECT_THAT(wrap("one two three four", 9), ElementsAre("one two", "three", "four"));
  EXPECT_THAT(wrap("", 9), ElementsAre(""));
}

TEST(Wrap, NumberStaysWithItsUnit) {
  EXPECT_THAT(wrap("level now, 99.9 % sure", 16), ElementsAre("level now,", "99.9 % sure"));
  EXPECT_THAT(wrap("at +8 MB/step, still", 13), ElementsAre("at", "+8 MB/step,", "still"));
  EXPECT_THAT(wrap("page 5 Based on", 11), ElementsAre("page 5", "Based on"));
}

TEST(Wrap, WordLongerThanTheLineIsBroken) {
  EXPECT_THAT(wrap("ab abcdefghij c", 4), ElementsAre("ab", "abcd", "efgh", "ij c"));
}

TEST(Paint, WithoutColourNothingIsAdded) {
  EXPECT_EQ(paint({.color = false}, Ink::red, "x"), "x");
  EXPECT_EQ(paint({.color = true}, Ink::red, "x"), "\x1b[1;31mx\x1b[0m");
}

TEST(Shorten, CutTextEndsInAnEllipsis) {
  EXPECT_EQ(shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten("abcdefg", 6), "abcde…");
}

TEST(ToAscii, WhatTheReportUsesIsSpelledOut) {
  EXPECT_EQ(to_ascii("5 → 17 GB ± 0.3 · 90–95"), "5 -> 17 GB +/- 0.3 - 90-95");
  EXPECT_EQ(to_ascii("日"), "?");
}

}  // namespace
}  // namespace plateau
