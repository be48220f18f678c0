// SPDX-License-Identifier: Apache-2.0
#include "fleet/job_round.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace plateau::fleet {
namespace {

using testing::HasSubstr;

constexpr double kEnd = 1.7e9;

// Two ranks of job 4711, sampled every 30 s, of which rank 1 grows; steps come every 10 s.
std::string samples(std::string_view metric, int rank, const std::string& more) {
  std::string values;
  for (int k = 0; k < 100; ++k) {
    double value = 3.0 * k;
    if (metric == "plateau_owned_memory_bytes") value = 1e9 + (rank == 1 ? 4e6 * k : 0);
    if (metric == "plateau_memory_limit_bytes") value = 16e9;
    if (metric == "plateau_epoch_steps") value = 83;
    values += fmt::format("{}[{},\"{}\"]", k == 0 ? "" : ",", kEnd - 3000 + 30 * k, value);
  }
  return fmt::format(
      R"({{"metric":{{"__name__":"{}","plateau_job":"4711","run":"r","rank":"{}","node":"n{}"{}}},"values":[{}]}})",
      metric, rank, rank, more, values);
}

struct Job {
  std::vector<std::string> asked;
  std::string more;
  int status = 200;

  Ask ask() {
    return [this](const std::string& /*path*/, const std::string& form) -> Result<HttpAnswer> {
      asked.push_back(form);
      if (status != 200) return HttpAnswer{status, "", R"({"status":"error","error":"too much"})"};
      std::string series;
      for (const char* metric : {"plateau_owned_memory_bytes", "plateau_last_step",
                                 "plateau_memory_limit_bytes", "plateau_epoch_steps"}) {
        if (form.find(metric) == std::string::npos || form.find("4711") == std::string::npos)
          continue;
        series = samples(metric, 0, more) + "," + samples(metric, 1, more);
      }
      return HttpAnswer{
          200, "application/json",
          fmt::format(R"({{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}})",
                      series)};
    };
  }
};

TEST(JobRound, EveryRankBecomesARunWithItsStepsAndLimit) {
  Job job{.more = R"(,"attempt":"2","world":"2")"};
  Database database(job.ask());
  const Result<std::vector<plateau::Run>> runs =
      runs_of_job(database, {.job = "4711", .end_s = kEnd, .window_s = 3600});
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs.value().size(), 2U);
  const plateau::Run& one = runs.value()[1];
  EXPECT_EQ(one.context.rank->value, 1);
  EXPECT_EQ(one.context.attempt->value, 2);
  EXPECT_EQ(one.context.world->value, 2);
  EXPECT_EQ(one.context.job->text, "4711");
  EXPECT_EQ(one.context.limit_mb->value, 16000);
  EXPECT_EQ(one.context.epoch_steps->value, 83);
  EXPECT_EQ(one.host, "n1");
  ASSERT_EQ(one.instants.size(), 100U);
  EXPECT_EQ(one.instants.back().step, 297);
  EXPECT_DOUBLE_EQ(one.series[0].mb.back(), 1000 + 4 * 99);
  EXPECT_THAT(job.asked.front(), HasSubstr("%5B3600s%5D"));
}

TEST(JobRound, HostileRanksSayNothing) {
  Job job{.more = R"(,"attempt":"-9999999999999999999","world":"many")"};
  Database database(job.ask());
  const Result<std::vector<plateau::Run>> runs =
      runs_of_job(database, {.job = "4711", .end_s = kEnd});
  ASSERT_TRUE(runs.ok());
  EXPECT_FALSE(runs.value()[0].context.attempt);
  EXPECT_FALSE(runs.value()[0].context.world);
}

TEST(JobRound, AJobThatNobodyKnowsIsAnErrorThatSaysWhatToDo) {
  Job job;
  Database database(job.ask());
  const auto runs = runs_of_job(database, {.job = "x\"} or {a=\"", .end_s = kEnd});
  ASSERT_FALSE(runs.ok());
  EXPECT_THAT(runs.error().message, HasSubstr("--push"));
}

TEST(JobRound, TooMuchIsAnErrorThatAsksForAShorterWindow) {
  Job job{.status = 422};
  Database database(job.ask());
  const auto runs = runs_of_job(database, {.job = "4711", .end_s = kEnd});
  ASSERT_FALSE(runs.ok());
  EXPECT_THAT(runs.error().message, HasSubstr("--window"));
}

}  // namespace
}  // namespace plateau::fleet
