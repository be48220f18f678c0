// SPDX-License-Identifier: Apache-2.0
#include "fleet/life_series.h"

#include <gtest/gtest.h>

namespace plateau::fleet {
namespace {

RawSeries series_of(double begin_s, double end_s, const std::string& id, double mb,
                    double mb_per_s = 0, double every_s = 30) {
  RawSeries series{.labels = labels_of({{"id", id}, {"pod", "a"}}), .samples = {}};
  for (double at = begin_s; at < end_s; at += every_s) {
    series.samples.push_back({at, mb + mb_per_s * (at - begin_s)});
  }
  return series;
}

const std::vector<Sample> kNothingTold = {};
const std::vector<Sample> kNeverRestarted = {{0, 1000}};

TEST(Lives, BeginWhereTheContainerIsAnother) {
  const LifeSeries joined = join_series(
      {series_of(600, 1200, "two", 100), series_of(0, 600, "one", 100)}, kNeverRestarted);
  ASSERT_EQ(joined.lives(), 2U);
  EXPECT_EQ(joined.life_begins[0], 600);
  EXPECT_EQ(joined.samples.size(), 40U);
  EXPECT_EQ(joined.duplicates, 0U);
}

TEST(Lives, EndWhereTheNextBegins) {
  // The older container lingers for two scrapes.
  const LifeSeries joined = join_series(
      {series_of(0, 660, "one", 500), series_of(600, 1200, "two", 100)}, kNeverRestarted);
  EXPECT_EQ(joined.lives(), 2U);
  EXPECT_EQ(joined.samples.size(), 40U);
}

TEST(Lives, OfTwoScrapersAreOne) {
  const LifeSeries joined = join_series(
      {series_of(0, 1200, "one", 100), series_of(7, 1200, "one", 100)}, kNeverRestarted);
  EXPECT_EQ(joined.lives(), 1U);
  EXPECT_EQ(joined.duplicates, 1U);
  EXPECT_EQ(joined.samples.size(), 40U);
}

TEST(Lives, FillAGapFromTheOtherScraper) {
  RawSeries gapped = series_of(0, 1200, "one", 100);
  gapped.samples.erase(gapped.samples.begin() + 10, gapped.samples.begin() + 20);
  const LifeSeries joined = join_series({gapped, series_of(7, 1100, "one", 100)}, kNeverRestarted);
  EXPECT_GE(joined.samples.size(), 38U);
  EXPECT_EQ(joined.lives(), 1U);
}

TEST(Lives, BeginWhereTheStartTimeChanges) {
  const LifeSeries joined =
      join_series({series_of(0, 1200, "one", 100)}, {{0, 50}, {300, 53}, {600, 590}, {900, 590}});
  ASSERT_EQ(joined.lives(), 2U);
  EXPECT_EQ(joined.life_begins[0], 600);
}

TEST(Lives, BeginAfterAFallByHalfIfNothingElseTells) {
  RawSeries fallen = series_of(0, 600, "one", 1000);
  const RawSeries after = series_of(600, 1200, "one", 300);
  fallen.samples.insert(fallen.samples.end(), after.samples.begin(), after.samples.end());
  EXPECT_EQ(join_series({fallen}, kNothingTold).lives(), 2U);
  EXPECT_EQ(join_series({fallen}, kNeverRestarted).lives(), 1U);
}

TEST(Lives, AreNotCutByASpike) {
  RawSeries spiked = series_of(0, 1200, "one", 100);
  for (size_t i = 20; i < 23; ++i) spiked.samples[i].value = 900;
  EXPECT_EQ(join_series({spiked}, kNothingTold).lives(), 1U);
}

TEST(Lives, AreNotCutByACacheThatIsEmptied) {
  RawSeries teeth{.labels = {}, .samples = {}};
  for (int i = 0; i < 200; ++i) teeth.samples.push_back({i * 30.0, 100.0 + 20 * (i % 40)});
  EXPECT_EQ(join_series({teeth}, kNothingTold).lives(), 1U);
}

TEST(Swap, IsAddedWhereTheTimesAreTheSame) {
  std::vector<Sample> rss = {{1, 10}, {2, 20}, {4, 40}};
  add_samples({{1, 1}, {3, 3}, {4, 4}}, rss);
  EXPECT_EQ(rss[0].value, 11);
  EXPECT_EQ(rss[1].value, 20);
  EXPECT_EQ(rss[2].value, 44);
}

TEST(RunOfLives, HasAProcessForEach) {
  const LifeSeries joined = join_series(
      {series_of(0, 600, "one", 100), series_of(600, 1200, "two", 200)}, kNeverRestarted);
  const plateau::Run run = run_of(joined, Metric::anon, 0);
  ASSERT_EQ(run.processes.size(), 2U);
  EXPECT_EQ(run.instants.size(), 40U);
  EXPECT_EQ(run.series[0].mb[0], 100);
  EXPECT_FALSE(run.series[0].mb[39] > 0);
  EXPECT_EQ(run.series[1].mb[39], 200);
}

}  // namespace
}  // namespace plateau::fleet
