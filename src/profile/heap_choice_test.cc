// SPDX-License-Identifier: Apache-2.0
#include "profile/heap_choice.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

HeapTrack track_of(int64_t pid, double first_bytes, double last_bytes) {
  HeapTrack track;
  track.pid = pid;
  track.stacks.resize(1);
  track.sites.resize(1);
  for (int i = 0; i < 10; ++i) {
    const double bytes = first_bytes + (last_bytes - first_bytes) * i / 9;
    track.rows.push_back({.time_s = 1.0 * i, .step = i + 1, .cells = {{0, bytes, 1}}});
  }
  return track;
}

int64_t chosen(const std::vector<HeapTrack>& tracks, const std::string& wanted = "") {
  Run run;
  run.heaps = tracks;
  const Result<const HeapTrack*> track = choose_heap(run, wanted);
  return track ? track.value()->pid : -1;
}

TEST(HeapChoice, TheHeapThatGrewMostIsShown) {
  EXPECT_EQ(chosen({track_of(1, 90e6, 91e6), track_of(2, 1e6, 30e6), track_of(3, 5e6, 5e6)}), 2);
}

TEST(HeapChoice, OfHeapsThatDidNotGrowTheLargestIsShown) {
  EXPECT_EQ(chosen({track_of(1, 4e6, 4e6), track_of(2, 40e6, 40e6), track_of(3, 5e6, 5.01e6)}), 2);
}

TEST(HeapChoice, ANamedHeapIsShownWhateverItHolds) {
  EXPECT_EQ(chosen({track_of(1, 90e6, 190e6), track_of(2, 1e6, 1e6)}, "2"), 2);
  EXPECT_EQ(chosen({track_of(1, 90e6, 190e6)}, "7"), -1);
}

}  // namespace
}  // namespace plateau
