// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <gmock/gmock.h>

namespace plateau {
namespace {

using ::testing::ElementsAre;

TEST(PrintableText, EscapeSequencesVanishWhole) {
  EXPECT_EQ(printable("a\x1b[31;1mred\x1b[0m b"), "ared b");
  EXPECT_EQ(printable("\x1b]0;title\x07text"), "text");
  EXPECT_EQ(printable("\x1b]8;;http://x\x1b\\link"), "link");
  EXPECT_EQ(printable("end\x1b["), "end");
  EXPECT_EQ(printable("\x1b\x1b[2Jx"), "x");
}

TEST(PrintableText, ControlsNeverPass) {
  std::string bytes;
  for (int i = 1; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  bytes +=
      "\xc2\x9b"
      "31m\xe2\x80\xae";  // C1 CSI and a right-to-left override
  for (const char c : printable(bytes)) {
    EXPECT_FALSE((c >= 0 && c < 0x20) || c == 0x7f) << static_cast<int>(c);
  }
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\xe2\x80\xaex"),
            "31mx");
}

TEST(PrintableText, LineEndsBecomeSpacesAndBadBytesAreMarked) {
  EXPECT_EQ(printable("a\nb\tc\xff"), "a b c\uFFFD");
}

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
