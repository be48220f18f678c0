// SPDX-License-Identifier: Apache-2.0
#include "import/line_clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace plateau {
namespace {

int64_t last_step(OutputClock& clock, std::string_view bytes) {
  int64_t step = -1;
  for (const LineClock::News& news : clock.read(bytes)) {
    if (news.step >= 0) step = news.step;
  }
  return step;
}

TEST(LineClock, StepWordsAreReadWithoutAnyMemoryOnTheLine) {
  OutputClock clock;
  EXPECT_EQ(last_step(clock, "Step 10: loss 0.52\nStep 20: loss 0.48\n"), 20);
}

TEST(LineClock, ProgressBarsThatRedrawCountTheirPosition) {
  OutputClock clock;
  EXPECT_EQ(last_step(clock, "  4%|4   | 10/250 [00:05<02:00,  2.00it/s]\r"), 10);
  EXPECT_EQ(last_step(clock, "  8%|8   | 20/250 [00:10<01:55,  2.00it/s]\r"), 20);
}

TEST(LineClock, TheShorterBarOfAnEvaluationDoesNotCount) {
  OutputClock clock;
  last_step(clock, " 40%|4   | 100/250 [00:50<01:15,  2.00it/s]\r");
  EXPECT_EQ(last_step(clock, " 50%|5   | 5/10 [00:01<00:01,  5.00it/s]\r"), -1);
  EXPECT_EQ(last_step(clock, " 41%|4   | 101/250 [00:51<01:14,  2.00it/s]\r"), 101);
}

TEST(LineClock, ABarThatStartsAgainEachEpochIsCountedOn) {
  OutputClock clock;
  last_step(clock, "100%|###| 83/83 [00:40<00:00,  2.00it/s]\r");
  EXPECT_EQ(last_step(clock, " 12%|#  | 10/83 [00:05<00:35,  2.00it/s]\r"), 93);
}

TEST(LineClock, AStepWordBeatsABar) {
  OutputClock clock;
  last_step(clock, " 12%|#  | 10/83 [00:05<00:35,  2.00it/s]\r");
  EXPECT_EQ(last_step(clock, "Step 40: loss 0.3\n"), 40);
  EXPECT_EQ(last_step(clock, " 13%|#  | 11/83 [00:05<00:35,  2.00it/s]\r"), -1);
}

TEST(LineClock, ALineThatComesInPiecesIsReadOnce) {
  OutputClock clock;
  EXPECT_EQ(last_step(clock, "Ste"), -1);
  EXPECT_EQ(last_step(clock, "p 7: lo"), -1);
  EXPECT_EQ(last_step(clock, "ss 1\n"), 7);
}

TEST(LineClock, FactsOfTheTrainersHeadingAreFound) {
  OutputClock clock;
  double examples = 0;
  for (const LineClock::News& news : clock.read("***** Running training *****\n"
                                                "  Num examples = 663\n")) {
    for (const auto& [field, value] : news.facts) {
      if (field == &Context::examples) examples = value;
    }
  }
  EXPECT_EQ(examples, 663);
}

TEST(LineClock, FractionalEpochsOfTrainerDictsAreRead) {
  OutputClock clock;
  const std::vector<LineClock::News> news = clock.read("{'loss': 0.5, 'epoch': 1.45}\n");
  ASSERT_EQ(news.size(), 1u);
  EXPECT_DOUBLE_EQ(news[0].epoch, 1.45);
}

TEST(LineClock, WholeEpochsAreReadWhereverTheyStand) {
  OutputClock clock;
  std::vector<LineClock::News> news = clock.read("step 100 epoch 1 loss 0.1\nstep 105 epoch 2\n");
  ASSERT_EQ(news.size(), 2u);
  EXPECT_DOUBLE_EQ(news[0].epoch, 1);
  EXPECT_DOUBLE_EQ(news[1].epoch, 2);
  EXPECT_EQ(news[1].events, std::vector<EventKind>{EventKind::epoch});
  news = clock.read("Epoch 3\nstep 205: loss 0.1\n");
  ASSERT_EQ(news.size(), 2u);
  EXPECT_TRUE(std::isnan(news[0].epoch)) << "the heading stands at the last step of epoch 2";
  EXPECT_EQ(news[0].events, std::vector<EventKind>{EventKind::epoch});
  EXPECT_DOUBLE_EQ(news[1].epoch, 3);
}

TEST(LineClock, ABarThatNamesItsEpochIsAsLongAsAnEpochFromItsFirstLineOn) {
  OutputClock clock;
  const auto news = clock.read("Epoch 1:  12%|#  | 10/83 [00:05<00:35,  2.00it/s]\r");
  ASSERT_EQ(news.size(), 1u);
  ASSERT_EQ(news[0].facts.size(), 1u);
  EXPECT_EQ(news[0].facts[0].first, &Context::epoch_steps);
  EXPECT_DOUBLE_EQ(news[0].facts[0].second, 83);
  EXPECT_EQ(last_step(clock, "Epoch 2:   6%|#  | 5/83 [00:02<00:35,  2.00it/s]\r"), 88);
}

TEST(LineClock, EndlessLinesDoNotGrowWithoutBound) {
  OutputClock clock;
  for (int i = 0; i < 100; ++i) clock.read(std::string(100000, 'x'));
  EXPECT_EQ(last_step(clock, "\nStep 3: ok\n"), 3);
}

}  // namespace
}  // namespace plateau
