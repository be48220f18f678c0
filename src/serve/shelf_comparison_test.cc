// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "serve/served_runs_for_test.h"
#include "serve/shelf.h"

namespace plateau {
namespace {

using testing::HasSubstr;

class TwoRuns : public testing::Test {
 protected:
  TwoRuns()
      : shelf_({.paths = {directory_.path()},
                .later = {},
                .given = {},
                .policy = {},
                .open_recordings = {}}) {
    for (const double mb_per_step : {0.0, 3.0}) {
      InventedJob job(directory_.file(mb_per_step > 0 ? "grows.plateau" : "level.plateau"),
                      mb_per_step);
      job.steps(300);
      job.finish();
    }
    shelf_.look(60);
    for (const RunFacts* run : shelf_.runs())
      (run->name == "grows.plateau" ? grows_ : level_) = run->id;
  }

  const ScratchDirectory directory_;
  Shelf shelf_;
  std::string grows_, level_;
};

TEST_F(TwoRuns, AreComparedInTheOrderInWhichTheyAreNamed) {
  const Result<std::string> better = shelf_.comparison(grows_, level_);
  ASSERT_TRUE(better);
  EXPECT_THAT(better.value(), HasSubstr(R"("stamp":"BETTER")"));
  const Result<std::string> worse = shelf_.comparison(level_, grows_);
  ASSERT_TRUE(worse);
  EXPECT_THAT(worse.value(), HasSubstr(R"("stamp":"WORSE")"));
}

TEST_F(TwoRuns, OneRunOrOneThatIsNotThereIsAnError) {
  EXPECT_EQ(shelf_.comparison(level_, level_).error().kind, Error::Kind::bad_input);
  EXPECT_EQ(shelf_.comparison(level_, "").error().kind, Error::Kind::not_found);
  EXPECT_EQ(shelf_.comparison("nonsense", level_).error().kind, Error::Kind::not_found);
}

TEST_F(TwoRuns, HaveACourseInTheListAndNoneInTheEvents) {
  const RunFacts& run = *shelf_.find(grows_);
  ASSERT_GT(run.course.size(), 8U);
  EXPECT_LE(run.course.size(), 24U);
  EXPECT_LT(run.course.front().mb, run.course.back().mb);
  EXPECT_THAT(run_summary_json(run, false), HasSubstr(R"("course":{"x":[)"));
  EXPECT_THAT(run_summary_json(run, true), testing::Not(HasSubstr("course")));
}

TEST(ShortCourse, KeepsTheHighestPointOfALongPlot) {
  std::vector<PlotPoint> plot;
  for (int i = 0; i < 2000; ++i) plot.push_back({1.0 * i, i == 1234 ? 99.0 : 5.0, false});
  double highest = 0;
  for (const PlotPoint& point : short_course(plot)) highest = std::fmax(highest, point.mb);
  EXPECT_EQ(highest, 99);
  EXPECT_TRUE(short_course({}).empty());
}

}  // namespace
}  // namespace plateau
