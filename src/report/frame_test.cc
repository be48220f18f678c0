// SPDX-License-Identifier: Apache-2.0
#include "report/frame.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

TEST(Frame, CutsAtTheEdgesAndIgnoresRowsOutside) {
  Frame frame(4, 1);
  EXPECT_EQ(frame.put(0, 2, "abc"), 4U);
  frame.put(1, 0, "below");
  frame.reverse(7, 0, 9);
  EXPECT_EQ(frame.text(), "  ab\n");
}

TEST(Frame, ReadsTheColoursThatPaintWrites) {
  const View view = {.width = 80, .color = true, .utf8 = true, .plot = true};
  Frame frame(3, 1);
  frame.put(0, 0, "a" + paint(view, Ink::red, "b") + "c", Ink::dim);
  EXPECT_EQ(frame.at(0, 0), (Cell{U'a', Ink::dim, false}));
  EXPECT_EQ(frame.at(0, 1), (Cell{U'b', Ink::red, false}));
  EXPECT_EQ(frame.at(0, 2), (Cell{U'c', Ink::dim, false}));
}

TEST(Frame, DropsEveryOtherControlCharacter) {
  Frame frame(20, 1);
  frame.put(0, 0, "a\x1b]0;x\a\r\n\tb\x7f\xc2\x9b");
  EXPECT_EQ(frame.row_text(0), "a]0;xb");
}

TEST(Frame, WideCharacterTakesTwoCellsOrNone) {
  Frame frame(3, 1);
  frame.put(0, 0, "漢字");
  EXPECT_EQ(frame.at(0, 0).glyph, U'漢');
  EXPECT_EQ(frame.at(0, 1).glyph, U'\0');
  EXPECT_EQ(frame.at(0, 2).glyph, U' ');
  EXPECT_EQ(frame.row_text(0), "漢");
}

TEST(Frame, OverwritingHalfOfAWideCharacterBlanksTheOtherHalf) {
  Frame frame(6, 1);
  frame.put(0, 0, "漢字");
  frame.put(0, 1, "字");
  EXPECT_EQ(frame.row_text(0), " 字");
  frame.put(0, 1, "x");
  EXPECT_EQ(frame.row_text(0), " x");
}

}  // namespace
}  // namespace plateau
