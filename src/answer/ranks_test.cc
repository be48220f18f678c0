// SPDX-License-Identifier: Apache-2.0
#include "answer/ranks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "answer/answer.h"

namespace plateau {
namespace {

// One tree: a launcher, three ranks, and a data worker that rank 1 has started.
plateau::Run tree() {
  plateau::Run run;
  run.source = "job";
  run.context.job = Fact{0, "test", "7"};
  run.context.epoch_steps = Fact{20, "test"};
  run.processes = {
      {.id = 1, .id_is_pid = true, .name = "torchrun"},
      {.id = 10, .parent = 1, .id_is_pid = true, .name = "python", .rank = 0},
      {.id = 11, .parent = 1, .id_is_pid = true, .name = "python", .rank = 1},
      {.id = 12, .parent = 1, .id_is_pid = true, .name = "python", .rank = 2},
      {.id = 20, .parent = 11, .id_is_pid = true, .name = "worker"},
  };
  for (int64_t i = 0; i < 120; ++i) run.instants.push_back({.step = i});
  for (size_t p = 0; p < run.processes.size(); ++p) {
    Series series{p, Metric::pss_anon, "pss_anon", {}};
    for (int64_t i = 0; i < 120; ++i) {
      const auto at = static_cast<double>(i);
      series.mb.push_back(300 + 0.2 * std::sin(at) + (p == 4 ? 2 * at : 0));
    }
    run.series.push_back(std::move(series));
  }
  return run;
}

TEST(Ranks, WhatARankHasStartedIsOfThatRank) {
  EXPECT_EQ(ranks_of(tree()), (std::vector<int64_t>{-1, 0, 1, 2, 1}));
}

TEST(Ranks, ATreeOfOneRankIsOfThatRankAsAWhole) {
  plateau::Run run = tree();
  for (Process& process : run.processes) process.rank = -1;
  run.context.rank = Fact{5, "RANK (torchrun)"};
  EXPECT_EQ(ranks_of(run), std::vector<int64_t>(5, 5));
  run.processes[1].rank = 3;
  EXPECT_EQ(ranks_of(run), std::vector<int64_t>(5, 3)) << "the innermost launcher is right";
}

TEST(Ranks, ParentsInACircleEndTheSearch) {
  plateau::Run run = tree();
  run.processes[0].parent = 20;
  run.processes[4].parent = 1;
  EXPECT_EQ(ranks_of(run)[0], -1);
}

TEST(Ranks, ALeakInTheWorkerOfOneRankIsThatRanks) {
  const Verdict verdict = answer_run(tree()).verdict;
  EXPECT_EQ(verdict.word, Word::leak);
  ASSERT_TRUE(verdict.job);
  EXPECT_EQ(verdict.job->id, "7");
  EXPECT_EQ(verdict.job->reach, JobVerdict::Reach::one_rank);
  EXPECT_TRUE(verdict.job->ranks[1].odd);
  EXPECT_EQ(verdict.job->nodes.size(), 1U);
}

TEST(Ranks, ARunOfOneRankIsNoJobOfMany) {
  plateau::Run run = tree();
  for (Process& process : run.processes) process.rank = -1;
  run.context.rank = Fact{2, "test"};
  run.context.world = Fact{8, "test"};
  const Verdict verdict = answer_run(run).verdict;
  EXPECT_FALSE(verdict.job);
  ASSERT_TRUE(verdict.launched);
  EXPECT_EQ(verdict.launched->rank, 2);
  EXPECT_EQ(verdict.launched->world, 8);
}

}  // namespace
}  // namespace plateau
