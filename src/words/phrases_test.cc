// SPDX-License-Identifier: Apache-2.0
#include "words/phrases.h"

#include <gtest/gtest.h>

#include <cmath>

namespace plateau {
namespace {

TEST(PercentPhrase, KeepsDigitsOnlyWhereTheyMatter) {
  EXPECT_EQ(percent_phrase(0.5), "50 %");
  EXPECT_EQ(percent_phrase(0.9871), "99 %");
  EXPECT_EQ(percent_phrase(0.9912), "99.1 %");
  EXPECT_EQ(percent_phrase(0.9999), "> 99.9 %");
  EXPECT_EQ(percent_phrase(1.0), "> 99.9 %");
  EXPECT_EQ(percent_phrase(0.004), "< 1 %");
  EXPECT_EQ(percent_phrase(0), "0 %");
  EXPECT_EQ(percent_phrase(std::nan("")), "? %");
}

TEST(RatePhrase, SlowGrowthInTimeIsToldPerHour) {
  EXPECT_EQ(rate_phrase(Clock::steps, 168), "+168 MB/step");
  EXPECT_EQ(rate_phrase(Clock::seconds, 0.02), "+1.20 MB/min");
  EXPECT_EQ(rate_phrase(Clock::seconds, 0.002), "+7.20 MB/h");
}

TEST(FromToPhrase, SharedUnitIsSaidOnce) {
  EXPECT_EQ(from_to_phrase(5434, 17700), "5.43 → 17.7 GB");
  EXPECT_EQ(from_to_phrase(900, 1200), "900 MB → 1.20 GB");
}

TEST(BandPhrase, HalfWidthIsToldInTheLevelsUnit) {
  EXPECT_EQ(band_phrase(17400, {.low = 17100, .high = 17700}), "17.4 GB ± 0.3");
  EXPECT_EQ(band_phrase(17400, {.low = 17390, .high = 17410}), "17.4 GB ± 10.0 MB");
  EXPECT_EQ(band_phrase(72.8, {.low = 72.8, .high = 72.8}), "72.8 MB");
}

TEST(MomentPhrase, SpeaksTheClocksLanguage) {
  EXPECT_EQ(moment_phrase(Clock::steps, 83), "step 83");
  EXPECT_EQ(moment_phrase(Clock::seconds, 720), "12 min");
  EXPECT_EQ(span_phrase(Clock::steps, 10, 1250), "steps 10–1,250");
  EXPECT_EQ(length_phrase(Clock::steps, 1), "1 step");
}

TEST(ProcessPhrase, PidAndIndexAreToldApart) {
  ProcessGrowth process;
  process.id = 4242;
  process.id_is_pid = true;
  process.name = "python";
  process.role = Role::data_worker;
  EXPECT_EQ(process_phrase(process), "python (pid 4242, data worker)");
  ProcessGrowth bare;
  bare.id = 3;
  EXPECT_EQ(process_phrase(bare), "process 3");
}

}  // namespace
}  // namespace plateau
