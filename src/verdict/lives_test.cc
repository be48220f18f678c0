// SPDX-License-Identifier: Apache-2.0
#include "verdict/lives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verdict/test_runs.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::SizeIs;

constexpr double kGone = kMissing;

// Processes by their owned memory, one value per instant, all of it to themselves.
struct Tree {
  ProcessSums processes;
  std::vector<double> sum;
  std::vector<double> clock;
};

Tree tree_of(std::vector<std::vector<double>> owned) {
  Tree tree;
  tree.sum.assign(owned[0].size(), kMissing);
  for (size_t i = 0; i < tree.sum.size(); ++i) {
    tree.clock.push_back(static_cast<double>(i));
    for (const std::vector<double>& of : owned) {
      if (!std::isfinite(of[i])) continue;
      tree.sum[i] = std::isfinite(tree.sum[i]) ? tree.sum[i] + of[i] : of[i];
    }
  }
  tree.processes.mapped.assign(owned.size(), std::vector<double>(tree.sum.size(), kMissing));
  tree.processes.to_itself = owned;
  tree.processes.kind.assign(owned.size(), 0);
  tree.processes.worker.assign(owned.size(), false);
  tree.processes.owned = std::move(owned);
  return tree;
}

Lives lives_of(const Tree& tree, double epoch = 0) {
  return follow_lives(tree.processes, tree.sum, {tree.clock, epoch}, tree.sum.size());
}

TEST(Lives, WhatAProcessHeldWhenItEndedCountsAsHeld) {
  const Lives lives = lives_of(tree_of({{10, 11, 12, 13}, {5, 6, kGone, kGone}}));
  EXPECT_THAT(lives.held, ElementsAre(15, 17, 18, 19));
  EXPECT_THAT(lives.surviving, ElementsAre(10, 11, 12, 13));
  ASSERT_THAT(lives.ended, SizeIs(1));
  EXPECT_EQ(lives.ended[0].instant, 2U);
  EXPECT_DOUBLE_EQ(lives.ended[0].mb, 6);
  EXPECT_THAT(lives.lives, SizeIs(1));
}

TEST(Lives, TheLastSampleOfAProcessThatGivesBackAllItHasIsNotWhatItHeld) {
  const Lives lives = lives_of(tree_of({{10, 11, 12, 13}, {5, 6, 2, kGone}}));
  EXPECT_THAT(lives.held, ElementsAre(15, 17, 18, 19));
  ASSERT_THAT(lives.ended, SizeIs(1));
  EXPECT_DOUBLE_EQ(lives.ended[0].mb, 6);
  const Lives slow = lives_of(tree_of({{10, 11, 12, 13, 14}, {5, 6, 4, 1, kGone}}));
  EXPECT_THAT(slow.held, ElementsAre(15, 17, 18, 19, 20)) << "object by object";
}

TEST(Lives, PoolsThatFollowEachOtherCountAsTheLargest) {
  const Lives lives = lives_of(tree_of({{90, 90, 90, 90, 90, 90},
                                        {5, 9, kGone, kGone, kGone, kGone},
                                        {5, 9, kGone, kGone, kGone, kGone},
                                        {kGone, kGone, kGone, 5, 9, 10},
                                        {kGone, kGone, kGone, 5, 9, 10}}));
  EXPECT_THAT(lives.held, ElementsAre(100, 108, 108, 108, 108, 110));
  EXPECT_THAT(lives.ended, testing::IsEmpty());
  EXPECT_THAT(lives.replaced, ElementsAre(false, true, true, true, true));
}

TEST(Lives, APoolThatIsOpenedJustBeforeTheLastOneIsClosedTakesItsPlace) {
  // Lightning makes the workers of the next epoch first.
  std::vector<double> main(40, 90), old(40, 9), next(40, 9);
  for (size_t i = 0; i < 40; ++i) (i < 31 ? next : old)[i] = i == 31 ? 9 : kGone;
  const Lives lives = lives_of(tree_of({main, old, next}));
  EXPECT_THAT(lives.ended, testing::IsEmpty());
  EXPECT_THAT(lives.replaced, ElementsAre(false, true, true));
  EXPECT_DOUBLE_EQ(lives.held.front(), 99);
}

TEST(Lives, AHelperThatEndsAsAWorkerBeginsIsNotItsPredecessor) {
  std::vector<double> main(40, 90), helper(40, kGone), worker(40, 9);
  helper[0] = helper[1] = helper[2] = 1;
  worker[0] = worker[1] = kGone;
  EXPECT_THAT(lives_of(tree_of({main, helper, worker})).replaced, ElementsAre(false, false, false));
}

TEST(Lives, OnlyAProcessOfTheSameKindTakesAPlace) {
  Tree tree =
      tree_of({{90, 90, 90, 90, 90}, {1, 1, kGone, kGone, kGone}, {kGone, kGone, 20, 30, kGone}});
  EXPECT_THAT(lives_of(tree).replaced, ElementsAre(false, true, true));
  tree.processes.kind[1] = 1;  // What a shell started to find the interpreter.
  const Lives lives = lives_of(tree);
  EXPECT_THAT(lives.replaced, ElementsAre(false, false, false));
  ASSERT_THAT(lives.ended, SizeIs(2));
  EXPECT_DOUBLE_EQ(lives.ended[1].mb, 30);
}

TEST(Lives, AJobThatIsStartedAnewHasTwoLivesAndTheLongerIsJudged) {
  const Lives lives = lives_of(tree_of({{1, 1, 1, 1, 1, 1, 1},
                                        {50, 60, 70, 80, kGone, kGone, kGone},
                                        {kGone, kGone, kGone, kGone, 50, 60, 70}}));
  ASSERT_THAT(lives.lives, SizeIs(2));
  EXPECT_EQ(lives.lives[0].to, 4U);
  EXPECT_EQ(lives.lives[1].from, 4U);
  EXPECT_EQ(lives.judged, 0U);
}

TEST(Lives, OneProcessPerPassOverTheDataIsAWorkerNotTheJob) {
  const Tree tree = tree_of({{60, 60, 60, 60, 60, 60},
                             {40, 45, 50, kGone, kGone, kGone},
                             {kGone, kGone, kGone, 40, 45, 50}});
  EXPECT_THAT(lives_of(tree, 2).lives, SizeIs(1));
  EXPECT_THAT(lives_of(tree).lives, SizeIs(2)) << "nobody said how long a pass is";
}

// Three workers at a time share the parent's pages: at the change of pools it owns a sixth of what
// was held, and has been there all along.
TEST(Lives, AParentWhosePagesWorkersShareIsTheJobThoughItOwnsLittle) {
  Tree tree = tree_of({{30, 31, 32, 33, 34, 35},
                       {42, 50, 68, kGone, kGone, kGone},
                       {42, 50, 68, kGone, kGone, kGone},
                       {kGone, kGone, kGone, 60, 70, 80},
                       {kGone, kGone, kGone, 60, 70, 80}});
  EXPECT_THAT(lives_of(tree).lives, SizeIs(2)) << "nobody knows what it maps";
  tree.processes.mapped[0] = {100, 110, 120, 130, 140, 150};
  EXPECT_THAT(lives_of(tree).lives, SizeIs(1));
}

TEST(Lives, ASnapshotOfAJobThatGoesOnIsNoLifeOfIt) {
  Tree tree = tree_of({{60, 62, 64, 66, 68, 70},
                       {50, 50, 50, kGone, kGone, kGone},
                       {kGone, kGone, kGone, 52, 52, 52}});
  tree.processes.mapped[0] = {110, 112, 114, 116, 118, 120};
  tree.processes.mapped[1] = {100, 100, 100, kGone, kGone, kGone};
  EXPECT_THAT(lives_of(tree).lives, SizeIs(1));
  tree.processes.mapped[1] = {115, 130, 145, kGone, kGone, kGone};
  EXPECT_THAT(lives_of(tree).lives, SizeIs(2)) << "a supervisor's copy that grew into the job";
}

TEST(Lives, SharedPagesGoOverToThoseWhoStillShareThem) {
  Tree tree = tree_of({{50, 50, 100, 100}, {55, 56, kGone, kGone}});
  tree.processes.to_itself[1] = {5, 6, kGone, kGone};
  tree.processes.mapped[0] = {100, 100, 100, 100};
  EXPECT_THAT(lives_of(tree).held, ElementsAre(105, 106, 106, 106));
}

// A log of 1 sample a minute: five times 900 MB to 8 GB in 90 min.
Run five_climbs(bool names_processes, const std::string& label) {
  Run run = run_of_processes(450, {[](double i) { return 900 + 80 * std::fmod(i, 90); }});
  run.processes[0].id_is_pid = names_processes;
  run.series[0].label = label;
  return run;
}

bool warns_of_restarts(const Verdict& verdict) {
  return found(verdict.warnings, FindingKind::falls_like_restarts) != nullptr;
}

TEST(Lives, FallsToWhereALogWithoutProcessesBeginsMayBeRestarts) {
  EXPECT_TRUE(warns_of_restarts(judge(five_climbs(false, "rss"))));
  EXPECT_FALSE(warns_of_restarts(judge(five_climbs(true, "rss")))) << "one process, by its id";
  EXPECT_FALSE(warns_of_restarts(judge(five_climbs(false, "heapUsed")))) << "collected";
  auto small = five_climbs(false, "rss");
  for (double& mb : small.series[0].mb) mb = 9000 + mb / 10;
  EXPECT_FALSE(warns_of_restarts(judge(small))) << "small beside what the program begins with";
}

TEST(Lives, LeakingWorkersThatEndBeforeTheJobLeaveALeak) {
  Noise noise(1);
  const auto leaks = [&](double t) { return 10 + 0.3 * t + 0.2 * noise(); };
  const auto until = [&](double t) { return t <= 580 ? leaks(t) : kGone; };
  const Verdict verdict = judge(with_epoch(run_of_processes(600, {leaks, until, until}), 100));
  EXPECT_EQ(verdict.word, Word::leak);
  ASSERT_THAT(verdict.ended, SizeIs(1));
  EXPECT_EQ(verdict.ended[0].processes, 2U);
  EXPECT_NEAR(verdict.ended[0].mb, 2 * 184, 5);
  EXPECT_NE(found(verdict.warnings, FindingKind::survivors_judged), nullptr);
  EXPECT_NEAR(verdict.current_rate_mb_per_step, 0.3, 0.02) << "now one process grows, not three";
  EXPECT_NEAR(verdict.components[0].rate_mb_per_step, 0.3, 0.02);
  EXPECT_NEAR(verdict.last_mb, 190, 5);
  EXPECT_NEAR(verdict.processes[0].growth_mb, verdict.processes[1].growth_mb, 10)
      << "what a process had grown by its end is its growth";
}

TEST(Lives, WhatAnExitingWorkerHadGrownByIsItsGrowth) {
  const auto leaks = [](double t) { return 10 + 0.3 * t; };
  const auto until = [&](double t) { return t < 580 ? leaks(t) : t < 583 ? 755 - t : kGone; };
  const Verdict verdict = judge(with_epoch(run_of_processes(600, {leaks, until}), 100));
  ASSERT_THAT(verdict.processes, SizeIs(2));
  EXPECT_NEAR(verdict.processes[1].last_mb, leaks(579), 1);
  EXPECT_NEAR(verdict.processes[1].share, 0.5, 0.03);
}

TEST(Lives, LevelWorkersThatEndLeaveAPlateauAtWhatIsLeft) {
  Noise noise(2);
  const auto level = [&](double) { return 100 + 0.2 * noise(); };
  const auto until = [&](double t) { return t <= 200 ? 50 + 0.2 * noise() : kGone; };
  const Verdict verdict = judge(with_epoch(run_of_processes(300, {level, until}), 60));
  EXPECT_EQ(verdict.word, Word::plateau);
  EXPECT_NEAR(verdict.last_mb, 100, 1);
}

TEST(Lives, AJobThatLeaksOnIsNotExcusedByWorkersThatLeakedMore) {
  Noise noise(3);
  const auto leaks = [&](double t) { return 40 + 0.25 * t + 0.2 * noise(); };
  const auto until = [&](double t) { return t <= 150 ? 10 + 0.6 * t : kGone; };
  const Verdict verdict =
      judge(with_epoch(run_of_processes(260, {leaks, until, until, until}), 60));
  EXPECT_EQ(verdict.word, Word::leak);
}

TEST(Lives, WorkersThatLeakedUntilTheyEndedLeakedThoughTheJobIsLevel) {
  Noise noise(6);
  const auto level = [&](double) { return 200 + 0.3 * noise(); };
  const auto until = [](double end) {
    return [end](double t) { return t <= end ? 2 + 0.5 * t : kGone; };
  };
  const Verdict verdict =
      judge(with_epoch(run_of_processes(500, {level, until(400), until(410)}), 100));
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_NEAR(verdict.last_step, 400, 1);
  EXPECT_NEAR(verdict.last_mb, 604, 5);
  const Finding* said = found(verdict.warnings, FindingKind::judged_until_ended);
  ASSERT_NE(said, nullptr);
  EXPECT_DOUBLE_EQ(said->number("processes")->value, 2);
  EXPECT_DOUBLE_EQ(said->number("first_ended_step")->value, 401);
  EXPECT_DOUBLE_EQ(said->number("ended_step")->value, 411);
  const Verdict long_after =
      judge(with_epoch(run_of_processes(900, {level, until(400), until(410)}), 100));
  EXPECT_EQ(long_after.word, Word::plateau) << "what goes on was seen for longer than they were";
}

TEST(Lives, ALeakThatIsKilledAndStartedAgainIsALeakInEachLife) {
  Noise noise(4);
  const auto supervisor = [](double) { return 3.0; };
  std::vector<std::function<double(double)>> curves = {supervisor};
  for (int life = 0; life < 4; ++life) {
    curves.emplace_back([&noise, life](double t) {
      const double age = t - 100 * life;
      return age > 0 && age <= 100 ? 30 + 0.8 * age + 0.3 * noise() : kGone;
    });
  }
  const Verdict verdict = judge(with_epoch(run_of_processes(400, curves), 40));
  EXPECT_EQ(verdict.word, Word::leak);
  ASSERT_THAT(verdict.lives, SizeIs(4));
  EXPECT_THAT(verdict.lives[3].last_mb - verdict.lives[3].first_mb, DoubleNear(79, 2));
  const Finding* said = found(verdict.warnings, FindingKind::one_life_judged);
  ASSERT_NE(said, nullptr);
}

TEST(Lives, WorkersForkedAnewAtEachEpochAreAPlateau) {
  Noise noise(5);
  std::vector<std::function<double(double)>> curves = {[&](double) { return 150 + 0.3 * noise(); }};
  for (int epoch = 0; epoch < 6; ++epoch) {
    for (int worker = 0; worker < 2; ++worker) {
      curves.emplace_back([&noise, epoch](double t) {
        const double age = t - 50 * epoch;
        return age > 0 && age <= 48 ? 8 + 0.2 * age + 0.1 * noise() : kGone;
      });
    }
  }
  EXPECT_EQ(judge(with_epoch(run_of_processes(300, curves), 50)).word, Word::plateau);
  curves[0] = [&](double t) { return 150 + 0.2 * t + 0.3 * noise(); };
  EXPECT_EQ(judge(with_epoch(run_of_processes(300, curves), 50)).word, Word::leak);
}

TEST(Lives, WorkersOfAPoolThatAreReplacedAfterSomeTasksAreNoRestarts) {
  // A small main process, and two workers that hold nearly all of the tree and are replaced.
  Tree tree = tree_of({{2, 2, 2, 2, 2, 2, 2, 2, 2},
                       {10, 20, 30, kGone, kGone, kGone, kGone, kGone, kGone},
                       {10, 20, 30, kGone, kGone, kGone, kGone, kGone, kGone},
                       {kGone, kGone, kGone, 10, 20, 30, kGone, kGone, kGone},
                       {kGone, kGone, kGone, 10, 20, 30, kGone, kGone, kGone},
                       {kGone, kGone, kGone, kGone, kGone, kGone, 10, 20, 30},
                       {kGone, kGone, kGone, kGone, kGone, kGone, 10, 20, 30}});
  EXPECT_THAT(lives_of(tree).lives, SizeIs(3)) << "where nothing tells that they are workers";
  tree.processes.worker = {false, true, true, true, true, true, true};
  const Lives lives = lives_of(tree);
  EXPECT_THAT(lives.lives, SizeIs(1));
  EXPECT_THAT(lives.held, ElementsAre(22, 42, 62, 62, 62, 62, 62, 62, 62));
}

TEST(Lives, HelpersThatEachStepStartsAreNoRestarts) {
  std::vector<std::vector<double>> owned = {std::vector<double>(12, 2.0)};
  for (size_t helper = 0; helper < 6; ++helper) {
    owned.emplace_back(12, kGone);
    owned.back()[2 * helper] = 60;
  }
  const Tree tree = tree_of(std::move(owned));
  const auto lives = [&tree](double helper) {
    return follow_lives(tree.processes, tree.sum, {tree.clock, 0, helper}, tree.sum.size()).lives;
  };
  EXPECT_THAT(lives(kStepsOfHelper), SizeIs(1));
  EXPECT_THAT(lives(0), SizeIs(6)) << "where no clock tells how long they took";
}

}  // namespace
}  // namespace plateau
