// SPDX-License-Identifier: Apache-2.0
#include "verdict/site_merge.h"

#include <gtest/gtest.h>

#include "verdict/site_growth.h"
#include "verdict/test_tracks.h"

namespace plateau {
namespace {

TEST(SiteMerge, SumsRowsAgesAndTurnover) {
  TrackMaker maker(3);
  maker.add([](double t) { return t; });
  maker.add([](double) { return 7.0; });
  maker.add([](double) { return 1.0; });
  maker.site(0).live_age[2] = 3;
  maker.site(2).live_age[2] = 4;

  const HeapTrack merged = merge_sites(maker.track(), {0, 1, 0});

  ASSERT_EQ(merged.sites.size(), 2u);
  EXPECT_EQ(merged.sites[0].stack, 0u);
  EXPECT_DOUBLE_EQ(merged.sites[0].allocated_bytes, 11e6);
  EXPECT_DOUBLE_EQ(merged.sites[0].live_age[2], 7);
  EXPECT_DOUBLE_EQ(merged.sites[0].peak_bytes, 11e6);
  EXPECT_DOUBLE_EQ(merged.rows[2].cells[0].live_bytes, 11e6);
  EXPECT_DOUBLE_EQ(merged.rows[2].cells[1].live_bytes, 7e6);
}

TEST(SiteMerge, WhatIsLeftOutIsInNoRow) {
  TrackMaker maker(3);
  maker.add([](double) { return 5.0; });
  maker.add([](double) { return 7.0; });
  const HeapTrack merged = merge_sites(maker.track(), {kLeftOut, 0});
  ASSERT_EQ(merged.sites.size(), 1u);
  ASSERT_EQ(merged.rows[0].cells.size(), 1u);
  EXPECT_DOUBLE_EQ(merged.rows[0].cells[0].live_bytes, 7e6);
}

TEST(SiteMerge, LeakSpreadOverManyStacksShowsOnlyInTheirSum) {
  TrackMaker maker(200);
  maker.add([](double) { return 200.0; });
  std::vector<uint32_t> group = {0};
  for (int i = 0; i < 20; ++i) {
    maker.add([](double t) { return 0.00015 * t; });
    group.push_back(1);
  }
  EXPECT_EQ(judge_sites(maker.track(), {}).front().word, GrowthWord::level);
  EXPECT_EQ(judge_sites(merge_sites(maker.track(), group), {}).front().word, GrowthWord::unbounded);
}

}  // namespace
}  // namespace plateau
