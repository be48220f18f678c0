// SPDX-License-Identifier: Apache-2.0
#include "fleet/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/fleet_report.h"
#include "fleet/fleet_words.h"

namespace plateau::fleet {
namespace {

using testing::HasSubstr;
using testing::Not;

SeriesVerdict member(const std::string& workload, const std::string& version, int number,
                     bool leaks) {
  SeriesVerdict verdict;
  verdict.name = {.cluster = "",
                  .space = "shop",
                  .workload = workload,
                  .container = workload,
                  .version = version,
                  .member = workload + "-" + std::to_string(number)};
  verdict.word = leaks ? Word::leak : Word::plateau;
  verdict.log_factor = leaks ? 10 : -2;
  verdict.rate_mb_per_s = leaks ? 720.0 / 3600 + number * 1e-3 : 0;
  verdict.last_mb = 500;
  if (leaks) verdict.limit_in_s = 18'000 - number;
  verdict.first_s = version == "v1" ? 1000 : 5000;
  return verdict;
}

// Many calm workloads, so that there is a fleet to compare with.
std::vector<SeriesVerdict> calm_fleet() {
  std::vector<SeriesVerdict> all;
  for (int w = 0; w < 50; ++w) {
    for (int i = 0; i < 4; ++i) all.push_back(member("calm" + std::to_string(w), "v1", i, false));
  }
  return all;
}

FleetAnswer found_in(const std::vector<SeriesVerdict>& series) {
  FleetAnswer answer;
  answer.most_false = 0.1;
  answer.series_judged = series.size();
  answer.window_s = 21'600;
  find(series, answer);
  return answer;
}

TEST(Findings, OfACalmFleetAreNone) {
  const FleetAnswer answer = found_in(calm_fleet());
  EXPECT_TRUE(answer.findings.empty());
  EXPECT_EQ(answer.workloads, 50U);
}

TEST(Findings, NameTheVersionThatBroughtIt) {
  std::vector<SeriesVerdict> fleet = calm_fleet();
  for (int i = 0; i < 64; ++i) fleet.push_back(member("checkout", "v1.8.2", i, true));
  for (int i = 0; i < 3; ++i) fleet.push_back(member("checkout", "v1", i, false));
  const FleetAnswer answer = found_in(fleet);
  ASSERT_EQ(answer.findings.size(), 1U);
  const Finding& finding = answer.findings[0];
  EXPECT_EQ(finding.word, Word::leak);
  EXPECT_EQ(finding.affected, 64U);
  EXPECT_EQ(finding.since, "v1.8.2");
  EXPECT_EQ(finding.since_s, 5000);
  EXPECT_FALSE(finding.odd_one);
  EXPECT_THAT(what_happens(finding, "pod"),
              HasSubstr("64 of 64 pods, +835 MB/h each, first out of memory in 5.0 h"));
}

TEST(Findings, NameNoVersionIfTheOneBeforeLeaksToo) {
  std::vector<SeriesVerdict> fleet = calm_fleet();
  for (int i = 0; i < 4; ++i) fleet.push_back(member("checkout", "v1", i, true));
  for (int i = 0; i < 4; ++i) fleet.push_back(member("checkout", "v2", i, true));
  const FleetAnswer answer = found_in(fleet);
  ASSERT_EQ(answer.findings.size(), 2U);
  EXPECT_FALSE(answer.findings[0].since || answer.findings[1].since);
}

TEST(Findings, NameTheOddOneAmongMany) {
  std::vector<SeriesVerdict> fleet = calm_fleet();
  for (int i = 0; i < 12; ++i) fleet.push_back(member("api", "v1", i, i == 7));
  const FleetAnswer answer = found_in(fleet);
  ASSERT_EQ(answer.findings.size(), 1U);
  EXPECT_TRUE(answer.findings[0].odd_one);
  EXPECT_EQ(answer.findings[0].examples[0], "api-7");
}

TEST(Findings, AreRankedByHarm) {
  std::vector<SeriesVerdict> fleet = calm_fleet();
  fleet.push_back(member("alone", "v1", 0, true));
  for (int i = 0; i < 20; ++i) fleet.push_back(member("many", "v1", i, true));
  fleet.push_back(member("unlimited", "v1", 0, true));
  fleet.back().limit_in_s.reset();
  const FleetAnswer answer = found_in(fleet);
  ASSERT_EQ(answer.findings.size(), 3U);
  EXPECT_EQ(answer.findings[0].workload, "many");
  EXPECT_EQ(answer.findings[2].workload, "unlimited");
}

TEST(Findings, ThatAreHeldBackAreUndecidedAndSayWhy) {
  std::vector<SeriesVerdict> fleet = calm_fleet();
  SeriesVerdict climber = member("morning", "v1", 0, false);
  climber.word = Word::undecided;
  climber.log_factor = 1.2;
  climber.held_back = true;
  fleet.push_back(climber);
  const FleetAnswer answer = found_in(fleet);
  ASSERT_EQ(answer.findings.size(), 1U);
  EXPECT_EQ(answer.findings[0].word, Word::undecided);
  EXPECT_EQ(answer.leaks(), 0U);
  EXPECT_THAT(what_else(answer.findings[0]).back(), HasSubstr("nothing tells the load"));
}

TEST(FleetJson, HasTheKeysOfTheContractAndASummaryLast) {
  std::vector<SeriesVerdict> fleet = calm_fleet();
  for (int i = 0; i < 4; ++i) fleet.push_back(member("check\"out", "v1", i, true));
  const std::string json = fleet_json(found_in(fleet));
  for (const char* key : {"workload", "namespace", "verdict", "leak_probability", "pods",
                          "pods_affected", "growth_mb_per_hour", "limit_eta_s", "since"}) {
    EXPECT_THAT(json, HasSubstr("\"" + std::string(key) + "\":"));
  }
  const std::string last = json.substr(json.rfind('\n', json.size() - 2) + 1);
  for (const char* key : {"series_judged", "series_failed", "fdr"}) {
    EXPECT_THAT(last, HasSubstr("\"" + std::string(key) + "\":"));
  }
}

TEST(FleetPage, ShowsNamesAsTextOnly) {
  std::vector<SeriesVerdict> fleet = calm_fleet();
  for (int i = 0; i < 4; ++i) fleet.push_back(member("<script>alert(1)</script>", "v1", i, true));
  const std::string page = fleet_page(found_in(fleet), {"http://x/", "kubernetes", "pod"});
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("4 of 4 pods"));
}

TEST(FleetMetrics, AreBoundedWhateverTheFleetIs) {
  FleetAnswer answer;
  answer.findings.resize(3 * kMostWorkloadsTold);
  for (size_t i = 0; i < answer.findings.size(); ++i) {
    answer.findings[i].workload = std::to_string(i);
    answer.findings[i].word = Word::leak;
  }
  const std::string text = fleet_metrics(&answer, {}, Dialect::open_metrics);
  size_t lines = 0;
  for (size_t at = 0; (at = text.find("plateau_fleet_pods{", at)) != std::string::npos; ++at) {
    ++lines;
  }
  EXPECT_EQ(lines, kMostWorkloadsTold);
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(Sparkline, IsAsWideAsItsPointsAndPlainIfAsked) {
  std::array<float, kSparkPoints> spark{};
  for (size_t i = 0; i < kSparkPoints; ++i) spark[i] = static_cast<float>(i);
  EXPECT_EQ(sparkline(spark, false).size(), kSparkPoints);
  EXPECT_TRUE(sparkline(spark, true).starts_with("▁"));
  EXPECT_TRUE(sparkline(spark, true).ends_with("█"));
}

}  // namespace
}  // namespace plateau::fleet
