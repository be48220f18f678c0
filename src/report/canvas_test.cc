// SPDX-License-Identifier: Apache-2.0
#include "report/canvas.h"

#include <gmock/gmock.h>

namespace plateau {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Canvas, BrailleShowsEachDotInItsPlace) {
  Canvas canvas(1, 1, true);
  EXPECT_EQ(canvas.dots_wide(), 2U);
  EXPECT_EQ(canvas.dots_high(), 4U);
  canvas.dot(0, 3, Layer::floor);
  canvas.dot(1, 0, Layer::floor);
  EXPECT_EQ(canvas.row(0, {}), "⢁");
}

TEST(Canvas, AsciiShowsTheTopmostLayer) {
  Canvas canvas(4, 1, false);
  canvas.line(0, 0, 3, 0, Layer::limit);
  canvas.dot(1, 0, Layer::floor);
  canvas.dot(2, 0, Layer::spike);
  canvas.dot(2, 0, Layer::boundary);
  EXPECT_EQ(canvas.row(0, {}), "-*^-");
}

TEST(Canvas, DotsOutsideAreIgnored) {
  Canvas canvas(2, 2, true);
  for (const int64_t far : {int64_t{-1}, int64_t{1000}, int64_t{-1000000}}) {
    canvas.dot(far, 0, Layer::floor);
    canvas.dot(0, far, Layer::floor);
  }
  EXPECT_EQ(canvas.row(0, {}), "  ");
  EXPECT_EQ(canvas.row(1, {}), "  ");
}

TEST(RoundTicks, AreRoundAndInside) {
  EXPECT_THAT(round_ticks(5.4, 20, 4), ElementsAre(10, 15, 20));
  EXPECT_THAT(round_ticks(0, 1, 5),
              ElementsAre(0, ::testing::DoubleEq(0.2), ::testing::DoubleEq(0.4),
                          ::testing::DoubleNear(0.6, 1e-9), ::testing::DoubleEq(0.8), 1));
}

TEST(RoundTicks, EmptyRangeHasNone) {
  EXPECT_THAT(round_ticks(1, 1, 4), IsEmpty());
  EXPECT_THAT(round_ticks(0, 1.0 / 0.0, 4), IsEmpty());
}

}  // namespace
}  // namespace plateau
