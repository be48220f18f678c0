// SPDX-License-Identifier: Apache-2.0
#include "cli/until.h"

#include <gmock/gmock.h>

namespace plateau {
namespace {

using ::testing::HasSubstr;

constexpr double kNoon = 1762603200;  // 2025-11-08T12:00:00Z

plateau::Run run_at(std::vector<double> times, bool dated) {
  plateau::Run run;
  run.source = "a.log";
  run.epoch_time = dated;
  int64_t step = 0;
  for (const double time : times) {
    run.instants.push_back({.step = step += 10, .time_s = time});
  }
  return run;
}

size_t kept(const plateau::Run& run, const Until& until) {
  const Result<plateau::Run> cut = cut_run(run, until);
  return cut ? cut.value().instants.size() : 999;
}

size_t kept_until(const plateau::Run& run, std::string_view time) {
  return kept(run, {.step = {}, .time = parse_time_limit(time)});
}

TEST(CutRun, StepLimitKeepsTheStepItself) {
  const plateau::Run run = run_at({0, 1, 2, 3}, false);
  EXPECT_EQ(kept(run, {.step = 20, .time = {}}), 2U);
  EXPECT_EQ(kept(run, {.step = 29, .time = {}}), 2U);
  EXPECT_EQ(kept(run, {.step = 5, .time = {}}), 0U);
  EXPECT_EQ(kept(run, {.step = 500, .time = {}}), 4U);
}

TEST(CutRun, ElapsedTimeCountsFromTheFirstSample) {
  EXPECT_EQ(kept_until(run_at({100, 160, 220, 280}, false), "2m"), 3U);
}

TEST(CutRun, TimeOfDayIsReadOnTheLogsClock) {
  const plateau::Run run = run_at({kNoon, kNoon + 60, kNoon + 120}, true);
  EXPECT_EQ(kept_until(run, "12:01"), 2U);
  EXPECT_EQ(kept_until(run, "11:00"), 0U);
  EXPECT_EQ(kept_until(run, "23:00"), 3U);
}

TEST(CutRun, TimeOfDayPastMidnightMeansTheNextDay) {
  const double late = kNoon + 11.9 * 3600;
  const plateau::Run run = run_at({late, late + 600, late + 1200}, true);
  EXPECT_EQ(kept_until(run, "00:10"), 2U);
}

TEST(CutRun, DateNeedsALogWithDates) {
  EXPECT_EQ(kept_until(run_at({kNoon, kNoon + 60}, true), "2025-11-08T12:00:30"), 1U);
  const Result<plateau::Run> cut =
      cut_run(run_at({0, 60}, false), {.step = {}, .time = parse_time_limit("2025-11-08")});
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr("has no dates"));
}

TEST(CutRun, MissingClockIsAnError) {
  plateau::Run run = run_at({kMissing, kMissing}, false);
  EXPECT_EQ(kept_until(run, "10m"), 999U);
  run.instants[0].step = run.instants[1].step = -1;
  EXPECT_EQ(kept(run, {.step = 3, .time = {}}), 999U);
}

}  // namespace
}  // namespace plateau
