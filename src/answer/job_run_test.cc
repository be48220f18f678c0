// SPDX-License-Identifier: Apache-2.0
#include "answer/job_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "answer/job_answer.h"
#include "recording/checks_for_test.h"

namespace plateau {
namespace {

struct Shape {
  int64_t rank = 0;
  int64_t from = 0;
  int64_t to = 120;
  double attempt = 0;
  std::string node = "n0";
  double start_s = 1000;
  double limit_mb = 0;
};

// A recording of one rank: what it holds at step i is mb(i).
template <typename Mb>
plateau::Run rank_run(const Shape& shape, Mb mb) {
  plateau::Run run;
  run.source = fmt::format("rank{}.plateau", shape.rank);
  run.command = "train";
  run.host = shape.node;
  run.epoch_time = true;
  run.context.job = Fact{0, "SLURM_JOB_ID (Slurm)", "4711"};
  run.context.rank = Fact{static_cast<double>(shape.rank), "RANK (torchrun)"};
  run.context.attempt = Fact{shape.attempt, "test"};
  run.context.epoch_steps = Fact{20, "test"};
  if (shape.limit_mb > 0) run.context.limit_mb = Fact{shape.limit_mb, "the limit of its cgroup"};
  run.processes.push_back({.id = 4242, .id_is_pid = true, .name = "python"});
  Series series{0, Metric::pss_anon, "pss_anon", {}};
  for (int64_t i = shape.from; i < shape.to; ++i) {
    run.instants.push_back({.step = i, .time_s = shape.start_s + static_cast<double>(i)});
    series.mb.push_back(mb(static_cast<double>(i)));
  }
  run.series.push_back(series);
  return run;
}

double level(double i) {
  return 900 + 0.3 * std::sin(i);
}
double leaking(double i) {
  return 900 + 4 * i + 0.3 * std::sin(i);
}

Verdict verdict_on(std::vector<plateau::Run> runs) {
  number_ranks(runs);
  const Result<plateau::Run> job = job_run(runs);
  EXPECT_TRUE(job.ok());
  EXPECT_EQ(check_shape(job.value()), "");
  return answer_job(job.value(), runs).verdict;
}

bool has(const std::vector<Finding>& findings, FindingKind kind) {
  return std::ranges::any_of(findings, [kind](const Finding& of) { return of.kind == kind; });
}

TEST(JobRun, RecordingsOfOneJobAreTellable) {
  std::vector<plateau::Run> runs = {rank_run({.rank = 0}, level), rank_run({.rank = 1}, level)};
  EXPECT_TRUE(is_one_job(runs));
  runs[1].context.job->text = "4712";
  EXPECT_FALSE(is_one_job(runs));
  runs[1].context.job.reset();
  EXPECT_FALSE(is_one_job(runs));
  std::swap(runs[0], runs[1]);
  EXPECT_FALSE(is_one_job(runs));
}

TEST(JobRun, TwoRunsOfOneRankAreComparedUnlessAttemptsTellThemApart) {
  std::vector<plateau::Run> runs = {rank_run({}, level), rank_run({.start_s = 9000}, level)};
  EXPECT_FALSE(is_one_job(runs));
  runs[1].context.attempt->value = 1;
  EXPECT_TRUE(is_one_job(runs));
}

TEST(JobRun, OneRankOfEightLeaks) {
  std::vector<plateau::Run> runs;
  for (int64_t rank = 0; rank < 8; ++rank) {
    runs.push_back(rank_run({.rank = rank, .node = fmt::format("n{}", rank / 2)},
                            rank == 3 ? leaking : level));
  }
  const Verdict verdict = verdict_on(runs);
  EXPECT_EQ(verdict.word, Word::leak);
  ASSERT_TRUE(verdict.job);
  EXPECT_EQ(verdict.job->reach, JobVerdict::Reach::one_rank);
  ASSERT_EQ(verdict.evidence.front().kind, FindingKind::series_odd);
  EXPECT_EQ(verdict.evidence.front().named("name")->text, "rank 3");
  EXPECT_EQ(verdict.evidence.front().number("level")->value, 7);
  for (const RankVerdict& rank : verdict.job->ranks) EXPECT_EQ(rank.odd, rank.rank == 3);
}

TEST(JobRun, TheCausesKnowTheHolderThatTheOddRankNames) {
  std::vector<plateau::Run> runs = {rank_run({.rank = 0}, level), rank_run({.rank = 1}, leaking)};
  EXPECT_NE(verdict_on(runs).causes.front().name, "python-objects");
  Holder kept{.kind = HolderKind::global, .path = "kept", .type = "list"};
  kept.length_before = 10;
  kept.length_after = 100;
  runs[1].holders = HolderGrowth{.pid = 4242,
                                 .from_s = 1010,
                                 .to_s = 1100,
                                 .from_step = 10,
                                 .to_step = 100,
                                 .holders = {kept}};
  const Verdict verdict = verdict_on(runs);
  ASSERT_EQ(verdict.holders.size(), 1U);
  EXPECT_EQ(verdict.causes.front().name, "python-objects");
}

TEST(JobRun, ClocksOfNodesThatDifferByMinutesDoNotMatter) {
  std::vector<plateau::Run> runs;
  for (int64_t rank = 0; rank < 4; ++rank) {
    const Shape shape{.rank = rank,
                      .node = fmt::format("n{}", rank),
                      .start_s = 1000 + 700 * static_cast<double>(rank % 2)};
    runs.push_back(rank_run(shape, rank == 2 ? leaking : level));
  }
  const Result<plateau::Run> job = job_run(runs);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job.value().instants.size(), 120U);
  EXPECT_EQ(job.value().instants.back().step, 119);
  EXPECT_LT(job.value().instants.back().time_s - job.value().instants.front().time_s, 121);
  EXPECT_EQ(verdict_on(runs).job->reach, JobVerdict::Reach::one_rank);
}

TEST(JobRun, AllRanksOrOneNodeAreToldAsSuch) {
  std::vector<plateau::Run> all;
  std::vector<plateau::Run> node;
  for (int64_t rank = 0; rank < 6; ++rank) {
    const Shape shape{.rank = rank, .node = fmt::format("n{}", rank / 2)};
    all.push_back(rank_run(shape, leaking));
    node.push_back(rank_run(shape, rank / 2 == 1 ? leaking : level));
  }
  const Verdict everywhere = verdict_on(all);
  EXPECT_EQ(everywhere.job->reach, JobVerdict::Reach::all);
  EXPECT_EQ(everywhere.evidence.front().kind, FindingKind::ranks_all_leak);
  const Verdict there = verdict_on(node);
  EXPECT_EQ(there.job->reach, JobVerdict::Reach::one_node);
  ASSERT_EQ(there.evidence.front().kind, FindingKind::ranks_of_node_leak);
  EXPECT_EQ(there.evidence.front().named("node")->text, "n1");
}

TEST(JobRun, NodesAreHeldAgainstTheirOwnLimits) {
  std::vector<plateau::Run> runs;
  for (int64_t rank = 0; rank < 4; ++rank) {
    const Shape shape{.rank = rank,
                      .node = fmt::format("n{}", rank / 2),
                      .limit_mb = rank < 2 ? 16000.0 : 4000.0};
    runs.push_back(rank_run(shape, leaking));
  }
  const Verdict verdict = verdict_on(runs);
  ASSERT_EQ(verdict.job->nodes.size(), 2U);
  EXPECT_EQ(verdict.job->nodes[1].ranks, 2U);
  // 2 x 900 MB + 2 x 4 MB a step reach 4,000 MB at step 275.
  ASSERT_TRUE(verdict.risk.at_step);
  EXPECT_NEAR(*verdict.risk.at_step, 275, 15);
  EXPECT_FALSE(verdict.risk.limit_mb) << "a limit is a node's";
  EXPECT_EQ(verdict.job->nodes[1].risk.limit_mb, 4000);
  const auto first =
      std::ranges::find(verdict.evidence, FindingKind::node_fills_first, &Finding::kind);
  ASSERT_NE(first, verdict.evidence.end());
  EXPECT_EQ(first->named("node")->text, "n1");
}

TEST(JobRun, RankZerosCheckpointsAreToldApart) {
  std::vector<plateau::Run> runs;
  for (int64_t rank = 0; rank < 4; ++rank) {
    runs.push_back(rank_run({.rank = rank, .to = 240}, [rank](double i) {
      return level(i) + (rank == 0 ? 50 * std::floor(i / 20) : 0);
    }));
  }
  for (size_t step = 20; step < 240; step += 20) {
    runs[0].events.push_back({step, EventKind::checkpoint, "checkpoint"});
  }
  const Verdict verdict = verdict_on(runs);
  EXPECT_EQ(verdict.word, Word::plateau);
  EXPECT_EQ(verdict.job->reach, JobVerdict::Reach::none);
  EXPECT_TRUE(verdict.job->ranks[0].saves);
  const auto saves = std::ranges::find(verdict.evidence, FindingKind::rank_saves, &Finding::kind);
  ASSERT_NE(saves, verdict.evidence.end());
  EXPECT_NEAR(saves->number("mb_per_save")->value, 50, 5);
}

TEST(JobRun, ALeakOfRankZeroThatIgnoresCheckpointsIsALeak) {
  std::vector<plateau::Run> runs;
  for (int64_t rank = 0; rank < 4; ++rank) {
    runs.push_back(rank_run({.rank = rank, .to = 240}, rank == 0 ? leaking : level));
  }
  for (size_t step = 20; step < 240; step += 20) {
    runs[0].events.push_back({step, EventKind::checkpoint, "checkpoint"});
  }
  const Verdict verdict = verdict_on(runs);
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_EQ(verdict.job->reach, JobVerdict::Reach::one_rank);
}

TEST(JobRun, AnAttemptIsANewLifeAndNoRelease) {
  // Killed at step 120, resumed from a checkpoint at step 100: rank 1 leaks in both lives.
  std::vector<plateau::Run> runs;
  for (int64_t rank = 0; rank < 3; ++rank) {
    const auto first = rank == 1 ? leaking : level;
    runs.push_back(rank_run({.rank = rank}, first));
    runs.push_back(rank_run({.rank = rank, .from = 100, .to = 300, .attempt = 1, .start_s = 5000},
                            [rank](double i) { return rank == 1 ? leaking(i - 100) : level(i); }));
  }
  const Result<plateau::Run> job = job_run(runs);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job.value().instants.back().step, 319);
  const Verdict verdict = verdict_on(runs);
  EXPECT_EQ(verdict.word, Word::leak);
  EXPECT_EQ(verdict.job->reach, JobVerdict::Reach::one_rank);
  EXPECT_EQ(verdict.job->ranks[0].lives, 2U);
  EXPECT_EQ(verdict.job->ranks[0].word, Word::plateau);
  EXPECT_TRUE(has(verdict.warnings, FindingKind::ranks_restarted));
}

TEST(JobRun, TheSameRankTwiceAtTheSameTimeCountsOnce) {
  const std::vector<plateau::Run> runs = {rank_run({.rank = 0}, level),
                                          rank_run({.rank = 1}, level),
                                          rank_run({.rank = 1, .to = 100}, level)};
  const Result<plateau::Run> job = job_run(runs);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job.value().processes.size(), 2U);
  ASSERT_FALSE(job.value().notes.empty());
  EXPECT_NE(job.value().notes.front().find("twice"), std::string::npos);
}

TEST(JobRun, MissingRanksAndOnesThatEndedEarlyAreSaid) {
  std::vector<plateau::Run> runs = {rank_run({.rank = 0}, level),
                                    rank_run({.rank = 2, .to = 60}, level)};
  for (plateau::Run& run : runs) run.context.world = Fact{4, "test"};
  const Verdict verdict = verdict_on(runs);
  EXPECT_EQ(verdict.job->missing, (std::vector<int64_t>{1, 3}));
  EXPECT_TRUE(has(verdict.warnings, FindingKind::ranks_missing));
  EXPECT_TRUE(has(verdict.warnings, FindingKind::rank_ended_early));
  EXPECT_EQ(verdict.job->ranks[1].ended_step, 59);
  EXPECT_NE(verdict.word, Word::leak);
}

TEST(JobRun, HostileFactsAreNoRanks) {
  std::vector<plateau::Run> runs = {rank_run({.rank = 0}, level), rank_run({.rank = 1}, level)};
  runs[0].context.rank = Fact{1e300, "hostile"};
  runs[0].context.world = Fact{1e300, "hostile"};
  runs[1].context.attempt = Fact{-5, "hostile"};
  runs.emplace_back();  // No sample at all.
  runs.back().context.job = runs[0].context.job;
  const Verdict verdict = verdict_on(runs);
  ASSERT_TRUE(verdict.job);
  EXPECT_EQ(verdict.job->ranks.size(), 2U);
  EXPECT_EQ(verdict.job->missing_count, 0U);
}

TEST(JobRun, RecordingsWithoutStepsAreLaidSideBySideByTheirOwnSeconds) {
  std::vector<plateau::Run> runs;
  for (int64_t rank = 0; rank < 2; ++rank) {
    runs.push_back(
        rank_run({.rank = rank, .start_s = 1000 + 500.0 * static_cast<double>(rank)}, level));
    for (Instant& at : runs.back().instants) at.step = -1;
  }
  const Result<plateau::Run> job = job_run(runs);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job.value().instants.size(), 120U);
  EXPECT_FALSE(job.value().has_steps());
}

TEST(JobRun, ManyRanksOfLongRecordingsStayWithinTheirRoom) {
  std::vector<plateau::Run> runs;
  for (int64_t rank = 0; rank < 40; ++rank) {
    runs.push_back(rank_run({.rank = rank, .to = 5000}, level));
  }
  const Result<plateau::Run> job = job_run(runs);
  ASSERT_TRUE(job.ok());
  EXPECT_LE(job.value().instants.size(), kMostJobInstants);
  EXPECT_EQ(job.value().instants.front().step, 0);
  EXPECT_EQ(job.value().instants.back().step, 4999);
}

}  // namespace
}  // namespace plateau
