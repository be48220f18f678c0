// SPDX-License-Identifier: Apache-2.0
#include "verdict/heap_sum.h"

#include <gtest/gtest.h>

#include "recording/checks_for_test.h"
#include "verdict/site_growth.h"
#include "verdict/site_merge.h"
#include "verdict/test_tracks.h"

namespace plateau {
namespace {

// A worker that lives from row `first` to row `last` of a job of 200 rows, holding 10 MB.
HeapTrack worker(size_t first, size_t last) {
  TrackMaker maker(200);
  maker.add([](double) { return 10.0; });
  HeapTrack track = maker.track();
  track.rows.erase(track.rows.begin() + static_cast<std::ptrdiff_t>(last), track.rows.end());
  track.rows.erase(track.rows.begin(), track.rows.begin() + static_cast<std::ptrdiff_t>(first));
  return track;
}

TEST(HeapSum, LevelWorkersThatMultiplyAreGrowth) {
  std::vector<HeapTrack> tracks = {worker(0, 200)};
  for (size_t i = 1; i < 40; ++i) tracks.push_back(worker(5 * i, 200));
  const HeapTrack sum = sum_heaps(tracks);
  ASSERT_EQ(sum.sites.size(), 40u);
  ASSERT_EQ(check_heap_track(sum), "");
  const HeapTrack merged = merge_sites(sum, std::vector<uint32_t>(40, 0));
  EXPECT_DOUBLE_EQ(merged.rows.back().cells[0].live_bytes, 400e6);
  EXPECT_EQ(judge_sites(merged, {}).front().word, GrowthWord::unbounded);
}

TEST(HeapSum, ProcessThatEndedHoldsNothing) {
  const HeapTrack sum = sum_heaps({worker(0, 200), worker(20, 100)});
  EXPECT_EQ(sum.rows[10].cells.size(), 1u);
  EXPECT_EQ(sum.rows[50].cells.size(), 2u);
  EXPECT_EQ(sum.rows[150].cells.size(), 1u);
}

TEST(HeapSum, AddressesMoveWithTheirModules) {
  HeapTrack one = worker(0, 200);
  one.modules = {{.begin = 0x1000, .end = 0x2000, .bias = 0x1000, .path = "a"}};
  one.stacks[0].native = {0x1234};
  one.codes = {{.function = "f"}};
  one.stacks[0].python = {{.code = 0}};
  const HeapTrack sum = sum_heaps({one, one});
  ASSERT_EQ(sum.modules.size(), 2u);
  EXPECT_EQ(sum.stacks[1].native[0] - sum.modules[1].bias, 0x234u);
  EXPECT_NE(sum.modules[0].begin, sum.modules[1].begin);
  EXPECT_EQ(sum.stacks[1].python[0].code, 1u);
}

TEST(HeapSum, OfNothingIsNothing) {
  EXPECT_TRUE(sum_heaps({}).rows.empty());
}

}  // namespace
}  // namespace plateau
