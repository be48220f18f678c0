// SPDX-License-Identifier: Apache-2.0
#include "report/status_line.h"

#include <gtest/gtest.h>

#include "report/compare.h"
#include "report/judged_examples_for_test.h"

namespace plateau {
namespace {

constexpr View kPlain = {.width = 80, .color = false, .utf8 = true, .plot = false};

TEST(StatusLine, IsWordLevelAndWhereItGoes) {
  EXPECT_EQ(render_status(plateau_example(), kPlain), "plateau 17.0 GB");
  EXPECT_EQ(render_status(leak_example(), kPlain).substr(0, 5), "leak ");
  EXPECT_NE(render_status(leak_example(), kPlain).find(" +"), std::string::npos);
  EXPECT_NE(render_status(warming_example(), kPlain).find(", ends near "), std::string::npos);
  EXPECT_EQ(render_status(empty_example(), kPlain), "undecided no samples yet");
}

TEST(StatusLine, IsColouredOnlyWhenAsked) {
  View view = kPlain;
  view.color = true;
  EXPECT_EQ(render_status(leak_example(), view).substr(0, 7), "\x1b[1;31m");
}

Change change_with(FigureKind kind, double difference, bool significant) {
  Change change;
  change.to = 100;
  change.differences[static_cast<size_t>(kind)] =
      Difference{.difference = difference, .significant = significant, .method = "blocks"};
  return change;
}

TEST(DeltaSentence, NamesWhatMattersAndCallsTheRestUnchanged) {
  Change change = change_with(FigureKind::rate, 3.1, true);
  EXPECT_EQ(delta_sentence(change), "memory per step +3.10 MB");
  change.differences[static_cast<size_t>(FigureKind::plateau)] =
      Difference{.difference = 240, .significant = true, .method = "blocks"};
  change.differences[static_cast<size_t>(FigureKind::peak)] =
      Difference{.difference = 12, .significant = false, .method = "blocks"};
  EXPECT_EQ(delta_sentence(change), "memory per step +3.10 MB, plateau +240 MB, peak unchanged");
}

TEST(DeltaSentence, WithoutALevelOnBothSidesTheFloorIsTold) {
  EXPECT_EQ(delta_sentence(change_with(FigureKind::floor, -20, true)), "floor -20.0 MB");
  // Where no test can tell, a peak that is twice as high is not said to be the same.
  Change twice = change_with(FigureKind::peak, 240, false);
  twice.differences[static_cast<size_t>(FigureKind::peak)]->ratio = 2;
  EXPECT_EQ(delta_sentence(twice), "peak +240 MB (perhaps by chance)");
  twice.differences[static_cast<size_t>(FigureKind::peak)]->method.clear();
  EXPECT_EQ(delta_sentence(twice), "not comparable: no figure in common")
      << "levels of unlike measures were compared";
  EXPECT_EQ(delta_sentence(Change{}), "not comparable: no span in common");
}

}  // namespace
}  // namespace plateau
