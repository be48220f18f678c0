// SPDX-License-Identifier: Apache-2.0
#include "prove/trial.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace plateau {
namespace {

void say(ProveTrial& trial, const std::string& text, int64_t pid = 10) {
  StepWords words;
  words.kind = StepWords::Kind::mark;
  words.name = "prove " + text;
  words.pid = pid;
  trial.hear(words);
}

// Pairs of blocks of 12 until somebody has heard enough; memory grows by these rates a batch.
int64_t run_pairs(ProveTrial& trial, double on_new, double on_again, int64_t pid = 10,
                  int64_t most = 120) {
  double mb = 500;
  int64_t at = 0;
  for (; at < 10; ++at)
    say(trial, fmt::format("at={} kind=W block=0 place={} size=0 mb=500", at + 1, at + 1), pid);
  say(trial, "design mode=index size=12 lag=0 ahead=0 batch=8 examples=663 read=rss rank=-", pid);
  for (int64_t block = 1; at < most; ++block) {
    const bool is_new = block % 2 == 1;
    for (int64_t place = 1; place <= 12; ++place) {
      mb += is_new ? on_new : on_again;
      say(trial,
          fmt::format("at={} kind={} block={} place={} size=12 mb={:.3f}", ++at, is_new ? 'N' : 'R',
                      block, place, mb),
          pid);
      if (trial.enough()) return at;
    }
  }
  return at;
}

TEST(Trial, TwoPairsOfACacheAreEnough) {
  ProveTrial trial;
  EXPECT_EQ(run_pairs(trial, 2.75, 0), 58);
  const ProveResult result = trial.result();
  EXPECT_EQ(result.proved, Proved::per_example);
  ASSERT_EQ(result.blocks.size(), 4);
  EXPECT_NEAR(result.blocks[0].mb_per_step, 2.75, 1e-9);
  EXPECT_NEAR(result.blocks[1].mb_per_step, 0, 1e-9);
}

// Blocks of 12 with these rates a batch, A and B in turn. Whether that was enough.
bool is_enough_of_arms(const std::vector<double>& rates) {
  ProveTrial trial;
  double mb = 245;
  int64_t at = 10, block = 0;
  say(trial, "design mode=index size=12 lag=0 ahead=0 batch=8 examples=663 read=rss rank=-");
  for (const double rate : rates) {
    ++block;
    for (int64_t place = 1; place <= 12; ++place) {
      mb += rate;
      say(trial, fmt::format("at={} kind={} block={} place={} size=12 mb={:.3f}", ++at,
                             block % 2 == 1 ? 'A' : 'B', block, place, mb));
    }
  }
  return trial.enough();
}

TEST(Trial, AContrastGoesOnUntilItIsKnownWhetherTheFactorMatters) {
  // As measured with malloc_trim() in every second block: that memory grows is clear by then.
  EXPECT_FALSE(is_enough_of_arms({1.501, 1.015, 1.232, 0.957, 1.121, 0.957}));
  EXPECT_TRUE(is_enough_of_arms({1.0, 1.0, 1.0, 1.0}));
  EXPECT_TRUE(is_enough_of_arms({1.0, 0, 1.0, 0}));
  EXPECT_TRUE(is_enough_of_arms({0, 0, 0, 0}));
}

TEST(Trial, AFactorThatLeavesCallsOutIsNotJudgedBeforeItHas) {
  ProveTrial trial(true);
  run_pairs(trial, 1, 1);
  EXPECT_FALSE(trial.enough());
  say(trial, "acted times=1");
  run_pairs(trial, 1, 1, 10, 34);
  EXPECT_TRUE(trial.enough());
  EXPECT_EQ(trial.result().acted, 1);
}

TEST(Trial, ABlockInWhichNothingWasTrainedOnCountsForNothing) {
  // A leak of 1 MB a step; two blocks go to an evaluation on the training loader.
  ProveTrial trial;
  say(trial, "design mode=index size=12 lag=0 ahead=0 batch=8 examples=663 read=rss rank=-");
  double mb = 245;
  int64_t at = 10;
  for (int64_t block = 1; block <= 6 && !trial.enough(); ++block) {
    const bool idle = block == 3 || block == 4;
    for (int64_t place = 1; place <= 12; ++place) {
      mb += idle ? 0 : 1;
      if (idle && place == 12) say(trial, fmt::format("idle block={}", block));
      say(trial, fmt::format("at={} kind={} block={} place={} size=12 mb={:.3f}", ++at,
                             block % 2 == 1 ? 'N' : 'R', block, place, mb));
    }
  }
  const ProveResult result = trial.result();
  EXPECT_EQ(result.proved, Proved::per_step);
  EXPECT_EQ(result.blocks.size(), 4);
  EXPECT_EQ(result.idle, 2);
  EXPECT_NEAR(result.odds.step_mb, 1, 0.05);
}

TEST(Trial, NamesTheFirstFilesThatTheJobWritesItselfAndAddsUpItsProcesses) {
  ProveTrial trial;
  say(trial, "wrote files=1 runs/log of today.txt", 10);
  say(trial, "wrote files=2 a", 10);
  say(trial, "wrote files=1 b", 11);
  say(trial, "wrote files=4 c", 10);
  say(trial, "wrote nothing", 10);
  const ProveResult result = trial.result();
  EXPECT_EQ(result.files_written, 5);
  EXPECT_EQ(result.wrote, (std::vector<std::string>{"runs/log of today.txt", "a", "b"}));
  EXPECT_FALSE(trial.begun());
}

TEST(Trial, WaitsForEveryRankAndNamesTheWorst) {
  ProveTrial trial;
  say(trial, "at=1 kind=W block=0 place=1 size=0 mb=500", 11);
  run_pairs(trial, 0, 0, 10);
  EXPECT_FALSE(trial.enough());
  run_pairs(trial, 0.4, 0.4, 11);
  EXPECT_TRUE(trial.enough());
  EXPECT_EQ(trial.result().proved, Proved::per_step);
  EXPECT_EQ(trial.result().pid, 11);
}

TEST(Trial, AStreamCannotTellACacheFromALeakInItsDataset) {
  ProveTrial trial;
  run_pairs(trial, 2, 0);
  say(trial, "design mode=stream size=12");
  EXPECT_EQ(trial.result().proved, Proved::undecided);
}

TEST(Trial, ALostStateAtTheBorderCostsNothing) {
  ProveTrial trial;
  say(trial, "design mode=index size=4 lag=0 ahead=0");
  for (int64_t at = 1; at <= 8; ++at) {
    if (at == 4) continue;
    say(trial, fmt::format("at={} kind={} block={} place={} size=4 mb={}", at, at <= 4 ? 'N' : 'R',
                           at <= 4 ? 1 : 2, (at - 1) % 4 + 1, at));
  }
  const ProveResult result = trial.result();
  ASSERT_EQ(result.blocks.size(), 1);  // The first has too few states left; the second has its own.
  EXPECT_NEAR(result.blocks[0].mb_per_step, 1, 1e-9);
}

TEST(Trial, MarginsLeaveOutWhatIsOnItsWay) {
  ProveTrial trial;
  say(trial, "design mode=index size=8 lag=0 ahead=4");
  double mb = 100;
  say(trial, "at=8 kind=W block=0 place=8 size=0 mb=100");
  for (int64_t place = 1; place <= 8; ++place) {
    mb += place > 4 ? 3 : 0;  // The workers are at the next block's batches already.
    say(trial, fmt::format("at={} kind=R block=1 place={} size=8 mb={}", 8 + place, place, mb));
  }
  const ProveResult result = trial.result();
  ASSERT_EQ(result.blocks.size(), 1);
  EXPECT_EQ(result.blocks[0].mb_per_step, 0);
}

TEST(Trial, RefusalEndsIt) {
  ProveTrial trial;
  say(trial, "refused in_order=False lets workers overtake each other");
  EXPECT_TRUE(trial.enough());
  EXPECT_EQ(trial.result().refused, "in_order=False lets workers overtake each other");
}

TEST(ProveWords, WhatLacksAKeyOrIsNoNumberIsNoLine) {
  EXPECT_FALSE(parse_prove_words("checkpoint"));
  EXPECT_FALSE(parse_prove_words("prove at=1 kind=N block=1 place=1 size=12"));
  EXPECT_FALSE(parse_prove_words("prove at=1 kind=N block=1 place=1 size=12 mb=nan"));
  EXPECT_FALSE(parse_prove_words("prove at=-1 kind=N block=1 place=1 size=12 mb=3"));
  EXPECT_TRUE(parse_prove_words("prove at=1 kind=N block=1 place=1 size=12 mb=3 new=key"));
}

}  // namespace
}  // namespace plateau
