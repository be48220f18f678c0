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

// A member that reached its limit three times, which no verdict on a single life calls a leak.
SeriesVerdict killed(const std::string& workload, int number) {
  SeriesVerdict verdict = member(workload, "v1", number, false);
  verdict.lives = 4;
  verdict.limit_mb = 600;
  verdict.deaths = {.count = 3, .rate_mb_per_s = 0.05, .longest_s = 5000};
  verdict.last_s = verdict.first_s + 21'600;
  return verdict;
}

TEST(Findings, OfOneThatIsKilledAtItsLimitAgainAndAgainAreALeakIfOthersLiveOn) {
  std::vector<SeriesVerdict> fleet = calm_fleet();
  fleet.push_back(killed("api", 0));
  for (int i = 1; i < 40; ++i) {
    fleet.push_back(member("api", "v1", i, false));
    fleet.back().last_s = fleet.back().first_s + 21'600;
  }
  const FleetAnswer answer = found_in(fleet);
  ASSERT_EQ(answer.findings.size(), 1U);
  const Finding& finding = answer.findings[0];
  EXPECT_EQ(finding.word, Word::leak);
  EXPECT_EQ(finding.affected, 1U);
  EXPECT_TRUE(finding.odd_one);
  EXPECT_EQ(finding.deaths, 3U);
  EXPECT_NEAR(finding.growth_mb_per_hour, 180, 1);
  EXPECT_NEAR(*finding.limit_in_s, 100 / 0.05, 1);
  EXPECT_THAT(what_else(finding),
              testing::Contains("climbed to its limit and ended there 3 times"));
}

TEST(Findings, OfAllThatAreKilledAtTheirLimitAreUndecidedAndSayWhy) {
  std::vector<SeriesVerdict> fleet = calm_fleet();
  for (int i = 0; i < 4; ++i) fleet.push_back(killed("api", i));
  const FleetAnswer answer = found_in(fleet);
  ASSERT_EQ(answer.findings.size(), 1U);
  EXPECT_EQ(answer.findings[0].word, Word::undecided);
  EXPECT_EQ(answer.findings[0].deaths, 12U);
  EXPECT_THAT(what_else(answer.findings[0]).back(), HasSubstr("a limit below what it needs"));
}

// One that has run for days and climbs, of which the verdict on its window is not sure.
SeriesVerdict old_climber(const std::string& workload, int number) {
  SeriesVerdict verdict = member(workload, "v1", number, false);
  verdict.established = true;
  verdict.drift = {.way = Drift::Way::climbs, .rate_mb_per_s = 0.02};
  return verdict;
}

std::vector<SeriesVerdict> old_calm_fleet(size_t falling) {
  std::vector<SeriesVerdict> all;
  for (int w = 0; w < 300; ++w) {
    for (int i = 0; i < 4; ++i) {
      all.push_back(member("calm" + std::to_string(w), "v1", i, false));
      all.back().established = true;
      if (all.size() <= falling) all.back().drift.way = Drift::Way::falls;
    }
  }
  return all;
}

TEST(Findings, OfAnOldProcessThatBeginsToClimbAreALeak) {
  std::vector<SeriesVerdict> fleet = old_calm_fleet(0);
  fleet.push_back(old_climber("api", 0));
  fleet.push_back(member("api", "v1", 1, false));
  const FleetAnswer answer = found_in(fleet);
  ASSERT_EQ(answer.findings.size(), 1U);
  EXPECT_EQ(answer.findings[0].workload, "api");
  EXPECT_EQ(answer.findings[0].affected, 1U);
  EXPECT_NEAR(answer.findings[0].growth_mb_per_hour, 72, 1);
  EXPECT_GT(answer.findings[0].log_factor, 5);
}

TEST(Findings, OfClimbsAreWorthLittleWhereAsManyFall) {
  std::vector<SeriesVerdict> fleet = old_calm_fleet(120);
  fleet.push_back(old_climber("api", 0));
  const FleetAnswer answer = found_in(fleet);
  ASSERT_EQ(answer.findings.size(), 1U);
  EXPECT_EQ(answer.findings[0].word, Word::undecided);
  EXPECT_LT(answer.findings[0].log_factor, 3);
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
