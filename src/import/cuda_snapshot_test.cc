// SPDX-License-Identifier: Apache-2.0
// CUDA memory snapshots: a stored one (tests/fixtures/run-folders), and histories made here.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "import/cuda_history.h"
#include "import/import.h"
#include "recording/checks_for_test.h"

namespace plateau {
namespace {

using Kind = CudaEvent::Kind;
const std::string kSnapshot =
    std::string(PLATEAU_SOURCE_DIR) + "/tests/fixtures/run-folders/cuda_snapshot.pickle";

double alive_at(const HeapTrack& track, const HeapRow& row, std::string_view function) {
  double bytes = 0;
  for (const HeapCell& cell : row.cells) {
    const HeapStack& stack = track.stacks[track.sites[cell.site].stack];
    if (track.codes[stack.python.front().code].function == function) bytes += cell.live_bytes;
  }
  return bytes;
}

TEST(CudaSnapshot, MemoryOverTimeAndByCallStack) {
  const auto runs = import_file(kSnapshot);
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs.value().size(), 1u);
  const plateau::Run& run = runs.value()[0];
  EXPECT_EQ(check_shape(run), "");
  EXPECT_EQ(run.format, "cuda snapshot");
  ASSERT_EQ(run.processes.size(), 1u);
  EXPECT_EQ(run.processes[0].name, "GPU 0");
  ASSERT_EQ(run.series.size(), 2u);
  EXPECT_EQ(run.series[0].metric, Metric::gpu);
  EXPECT_NEAR(run.series[0].mb.front(), 0, 1e-9);
  // 400 MB of weights and 60 times 2 MB; the highest moment has two activations of 50 MB more.
  EXPECT_NEAR(*std::max_element(run.series[0].mb.begin(), run.series[0].mb.end()), 620, 1e-9);
  EXPECT_NEAR(run.series[0].mb[run.series[0].mb.size() - 2], 520, 1e-9);
  EXPECT_NEAR(run.series[1].mb.back(), 1000, 1e-9);

  ASSERT_EQ(run.heaps.size(), 1u);
  const HeapTrack& track = run.heaps[0];
  EXPECT_EQ(device_of_pid(track.pid), 0);
  const HeapRow& last = track.rows.back();
  // The lowest moment of the last window is after the first step in it.
  EXPECT_GE(track.rows.size(), 16u);
  EXPECT_GT(alive_at(track, last, "keep_losses"), 110e6);
  EXPECT_LE(alive_at(track, last, "keep_losses"), 120e6);
  EXPECT_NEAR(alive_at(track, last, "build"), 400e6, 1);
  EXPECT_NEAR(alive_at(track, last, "forward"), 0, 1);
}

TEST(CudaSnapshot, FramesOfCppAreLeftOutWherePythonStands) {
  const auto runs = import_file(kSnapshot);
  ASSERT_TRUE(runs.ok());
  for (const PythonCode& code : runs.value()[0].heaps[0].codes) {
    EXPECT_TRUE(code.file.ends_with(".py")) << code.function;
  }
}

CudaSnapshot one_device(std::vector<CudaEvent> events, std::vector<CudaBlock> alive) {
  CudaSnapshot snapshot;
  snapshot.stacks.frames = {{"unknown", "", 0}, {"before", "", 0}, {"mine", "a.py", 3}};
  snapshot.stacks.stacks = {{0}, {1}, {2}};
  snapshot.devices.push_back({0, std::move(events), std::move(alive), 0});
  return snapshot;
}

CudaHistory played(const CudaSnapshot& snapshot, size_t windows) {
  return play_history(snapshot.devices[0], snapshot.stacks, clock_of(snapshot), windows);
}

// The worked case of cuda_history.h.
TEST(CudaHistory, WhatWasAliveBeforeTheHistoryIsWorkedOutFromItsEnd) {
  const CudaSnapshot snapshot =
      one_device({{Kind::alloc, 2, 0xa, 10e6, 1e15}, {Kind::free, 0, 0xc, 5e6, 1e15 + 10}},
                 {{0xa, 10e6, 2}, {0xb, 20e6, 2}});
  const CudaHistory history = played(snapshot, 2);
  EXPECT_EQ(history.before_bytes, 25e6);
  EXPECT_EQ(history.unknown_bytes, 5e6);
  EXPECT_EQ(history.windows[0].low_bytes, 25e6);
  EXPECT_EQ(history.windows[0].high_bytes, 35e6);
  EXPECT_EQ(history.windows[1].low_bytes, 30e6);
}

TEST(CudaHistory, AWindowWithoutEventsHasTheLevelBefore) {
  const CudaSnapshot snapshot =
      one_device({{Kind::alloc, 2, 1, 10e6, 1e15}, {Kind::alloc, 2, 2, 10e6, 1e15 + 1000}}, {});
  const CudaHistory history = played(snapshot, 10);
  ASSERT_EQ(history.track.rows.size(), 10u);
  for (size_t window = 1; window < 9; ++window) {
    EXPECT_EQ(history.windows[window].low_bytes, 10e6) << window;
    EXPECT_EQ(live_bytes_at(history.track, history.track.rows[window]), 10e6) << window;
  }
  EXPECT_EQ(history.windows[9].high_bytes, 20e6);
}

TEST(CudaHistory, MoreStacksThanSitesAreASumWithoutAStack) {
  CudaSnapshot snapshot = one_device({}, {});
  const size_t extra = 10;
  for (uint32_t i = 0; i < HeapTrack::kMaxSites + extra; ++i) {
    snapshot.stacks.stacks.push_back({2});
    const double bytes = i < extra ? 1000 : 2000;
    snapshot.devices[0].events.push_back({Kind::alloc, i + 3, i, bytes, 1e15 + i});
  }
  // The last moment is the lowest: a large block from before the history goes.
  snapshot.devices[0].events.push_back({Kind::free, 0, 1u << 20, 1e9, 1e15 + 2000});
  const CudaHistory history = played(snapshot, 16);
  EXPECT_EQ(history.track.sites.size(), HeapTrack::kMaxSites);
  EXPECT_EQ(history.track.folded_sites, extra + 1);
  EXPECT_EQ(history.track.rows.back().others_bytes, 1000.0 * extra + 2000);
}

TEST(CudaSnapshot, AnotherPickleIsRefusedByName) {
  const std::string bytes("\x80\x04}\x8c\x01xK\x01s.", 10);
  const auto runs = import_bytes("x.pickle", bytes);
  ASSERT_FALSE(runs.ok());
  EXPECT_NE(runs.error().message.find("a Python pickle that is no CUDA memory snapshot"),
            std::string::npos);
}

TEST(CudaSnapshot, WithoutAHistoryItSaysHowToRecordOne) {
  const std::string bytes(
      "\x80\x04}(\x8c\x08segments]\x8c\x0d"
      "device_traces]]au.",
      35);
  const auto runs = import_bytes("x.pickle", bytes);
  ASSERT_FALSE(runs.ok());
  EXPECT_NE(runs.error().message.find("_record_memory_history()"), std::string::npos);
}

}  // namespace
}  // namespace plateau
