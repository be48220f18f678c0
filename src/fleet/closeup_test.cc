// SPDX-License-Identifier: Apache-2.0
#include "fleet/closeup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "fleet/fleet_report.h"

namespace plateau::fleet {
namespace {

using testing::HasSubstr;
using testing::Not;

// Six hours at 30 s.
JudgedSeries judged(const std::string& member, double mb_per_hour) {
  JudgedSeries series;
  series.begin_s = 1.7e9;
  series.name = {.cluster = "",
                 .space = "shop",
                 .workload = "checkout",
                 .container = "app",
                 .version = "v1",
                 .member = member};
  for (int i = 0; i < 720; ++i) {
    const double hours = i / 120.0;
    series.series.samples.push_back(
        {series.begin_s + 30 * i, 300 + mb_per_hour * hours + std::sin(i * 12.9898)});
  }
  return series;
}

SeriesVerdict looked_at(const JudgedSeries& series) {
  SeriesVerdict verdict = judge_under_load(series, level_load(series));
  keep_closeup(series, level_load(series), verdict);
  return verdict;
}

FleetAnswer found(const std::vector<SeriesVerdict>& series) {
  FleetAnswer answer;
  answer.most_false = 0.1;
  find(series, answer);
  return answer;
}

TEST(Closeup, IsKeptOfWhatMayBeListedAndOfNothingElse) {
  EXPECT_NE(looked_at(judged("climbs", 40)).closeup, nullptr);
  EXPECT_EQ(looked_at(judged("level", 0)).closeup, nullptr);
}

TEST(Closeup, SaysTheWordThatTheRoundSaid) {
  const SeriesVerdict verdict = looked_at(judged("climbs", 40));
  ASSERT_NE(verdict.closeup, nullptr);
  const CloseReport report = report_of(*verdict.closeup);
  EXPECT_EQ(report.word, verdict.word);
  EXPECT_THAT(report.text, HasSubstr("LEAK"));
  EXPECT_THAT(report.chart, HasSubstr("<svg"));
}

TEST(Closeup, KnowsTheLimitThatTheListKnows) {
  JudgedSeries series = judged("climbs", 40);
  series.limit_mb = 1000;
  const SeriesVerdict verdict = looked_at(series);
  ASSERT_NE(verdict.closeup, nullptr);
  EXPECT_THAT(report_of(*verdict.closeup).text, HasSubstr("the limit is 1.00 GB"));
}

TEST(Closeup, OfTooManyTheSurestStay) {
  std::vector<SeriesVerdict> verdicts;
  for (int i = 0; i < 5; ++i) {
    verdicts.push_back(looked_at(judged("climbs", 40)));
    verdicts.back().log_factor = i;
  }
  keep_surest_closeups(verdicts, 2);
  EXPECT_EQ(verdicts[2].closeup, nullptr);
  EXPECT_NE(verdicts[3].closeup, nullptr);
  EXPECT_NE(verdicts[4].closeup, nullptr);
}

TEST(Closeup, StandsBehindItsFindingOnThePage) {
  std::vector<SeriesVerdict> fleet;
  for (int i = 0; i < 40; ++i) {
    fleet.push_back(looked_at(judged("calm", 0)));
    fleet.back().name.workload = "calm" + std::to_string(i);
  }
  fleet.push_back(looked_at(judged("<b>pod</b>", 40)));
  const std::string page = fleet_page(found(fleet), {"http://x/", "kubernetes", "pod"});
  EXPECT_THAT(page, HasSubstr("Report of the pod that grows fastest: &lt;b&gt;pod"));
  EXPECT_THAT(page, HasSubstr("src=\"data:image/svg+xml;base64,"));
  EXPECT_THAT(page, HasSubstr("Grew "));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  // The list says leak, and so does the curve: nothing has to be explained.
  EXPECT_THAT(page, Not(HasSubstr("By its own curve alone")));
}

TEST(Closeup, ThatSaysLessThanTheListSaysSo) {
  std::vector<SeriesVerdict> fleet;
  for (int i = 0; i < 40; ++i) {
    fleet.push_back(looked_at(judged("calm", 0)));
    fleet.back().name.workload = "calm" + std::to_string(i);
  }
  // Listed for what the fleet knows: by its curve alone it is level.
  SeriesVerdict listed = looked_at(judged("level", 0));
  listed.word = Word::leak;
  listed.log_factor = 10;
  keep_closeup(judged("level", 0), level_load(judged("level", 0)), listed);
  fleet.push_back(listed);
  const std::string page = fleet_page(found(fleet), {"http://x/", "kubernetes", "pod"});
  EXPECT_THAT(page, HasSubstr("By its own curve alone it is plateau; what else is known of it"));
}

}  // namespace
}  // namespace plateau::fleet
