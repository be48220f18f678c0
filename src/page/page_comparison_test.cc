// SPDX-License-Identifier: Apache-2.0
#include "page/page_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "report/compare.h"
#include "verdict/compare.h"
#include "verdict/test_runs.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

plateau::Run growing(double mb_per_step, int64_t from, uint64_t seed) {
  Noise noise(seed);
  std::vector<std::pair<int64_t, double>> points;
  for (int64_t step = from; step < from + 800; step += 4) {
    points.emplace_back(step, 5000 + mb_per_step * static_cast<double>(step) + 3 * noise());
  }
  plateau::Run run = with_epoch(run_of(points), 50);
  for (size_t i = 0; i < run.instants.size(); ++i) {
    run.instants[i].time_s = 2.0 * static_cast<double>(i);
  }
  return run;
}

TEST(PageComparison, SaysWhatTheTerminalSays) {
  const std::vector<plateau::Run> runs = {growing(2, 4, 1), growing(0, 4, 2)};
  const Comparison comparison = compare(std::span<const plateau::Run>(runs));
  const std::string json = comparison_page_json(comparison);
  EXPECT_THAT(json, HasSubstr(R"("outcome":"no_worse")"));
  EXPECT_THAT(json, HasSubstr(R"("stamp":"BETTER","said":"the fix)"));
  EXPECT_THAT(json, HasSubstr(change_sentence(comparison, comparison.changes.front())));
  EXPECT_THAT(json, HasSubstr(R"("name":"A","runs":[0],"verdict":"leak")"));
  EXPECT_THAT(json, HasSubstr(R"("name":"B","runs":[1],"verdict":"plateau")"));
}

TEST(PageComparison, FiguresCarryTitleUnitAndInterval) {
  const std::vector<plateau::Run> runs = {growing(2, 4, 1), growing(0, 4, 2)};
  const std::string json = comparison_page_json(compare(std::span<const plateau::Run>(runs)));
  EXPECT_THAT(json,
              HasSubstr(R"({"name":"rate_mb_per_step","title":"growth now","unit":"MB/step")"));
  EXPECT_THAT(json, HasSubstr(R"({"name":"floor_mb","title":"floor","unit":"MB")"));
  EXPECT_THAT(json, HasSubstr(R"("title":"time per step","unit":"s")"));
  EXPECT_THAT(json, HasSubstr(R"("significant":true)"));
  EXPECT_THAT(json, Not(HasSubstr(R"("title":"spike height")")));  // There are none.
}

TEST(PageComparison, EachFurtherRunIsAChange) {
  const std::vector<plateau::Run> runs = {growing(0, 4, 1), growing(0, 4, 2), growing(3, 4, 3)};
  const std::string json = comparison_page_json(compare(std::span<const plateau::Run>(runs)));
  EXPECT_THAT(json, HasSubstr(R"("outcome":"worse")"));
  EXPECT_THAT(json, HasSubstr(R"("side":1,)"));
  EXPECT_THAT(json, HasSubstr(R"("side":2,)"));
}

TEST(PageComparison, RunsThatShareNoSpanHaveNoFigures) {
  const std::vector<plateau::Run> runs = {growing(0, 4, 1), growing(0, 100000, 2)};
  EXPECT_THAT(comparison_page_json(compare(std::span<const plateau::Run>(runs))),
              HasSubstr(R"("figures":[])"));
}

TEST(PageComparison, NamesFromLogsAreMadeHarmless) {
  std::vector<plateau::Run> runs = {growing(0, 4, 1), growing(0, 4, 2)};
  runs[0].source = "\x1b[31mred.log";
  EXPECT_THAT(comparison_page_json(compare(std::span<const plateau::Run>(runs))),
              Not(HasSubstr("u001b")));
}

}  // namespace
}  // namespace plateau
