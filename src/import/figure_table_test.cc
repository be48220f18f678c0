// SPDX-License-Identifier: Apache-2.0
#include "import/figure_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/figure_sources.h"

namespace plateau {
namespace {

constexpr double kStart = 1.79e9;

std::vector<plateau::Run> written(FigureTable& table) {
  RunBuilder builder("test");
  table.write(builder);
  return builder.finish(0);
}

size_t rss(FigureTable& table) {
  return table.figure("rss_mb", role_of_figure);
}

TEST(FigureTable, SamplesWithoutAStepTakeTheStepOfTheTraining) {
  FigureTable table;
  for (int i = 0; i < 1000; ++i) table.clock(kStart + i * 0.4, i);
  for (int i = 0; i < 25; ++i) table.add(rss(table), kStart + i * 15.0, -1, 100 + i);
  const std::vector<plateau::Run> runs = written(table);
  ASSERT_EQ(runs.size(), 1u);
  ASSERT_EQ(runs[0].instants.size(), 25u);
  EXPECT_TRUE(runs[0].has_steps());
  EXPECT_EQ(runs[0].instants[2].step, 75);
}

TEST(FigureTable, StepsThatManySamplesShareAreLeftOut) {
  FigureTable table;
  for (int epoch = 0; epoch < 3; ++epoch) table.clock(kStart + epoch * 600.0, epoch);
  for (int i = 0; i < 120; ++i) table.add(rss(table), kStart + i * 15.0, -1, 100 + i);
  const std::vector<plateau::Run> runs = written(table);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].instants.size(), 120u);
  EXPECT_FALSE(runs[0].has_steps());
  EXPECT_TRUE(runs[0].has_times());
}

TEST(FigureTable, AFigureOfAnotherCountIsPlacedByItsTime) {
  FigureTable table;
  const size_t gpu = table.figure("val/gpu_mem_mb", role_of_figure);
  for (int i = 0; i < 100; ++i) table.add(rss(table), kStart + i, i * 10, 100 + i);
  for (int epoch = 0; epoch < 4; ++epoch) table.add(gpu, kStart + epoch * 25 + 24.5, epoch, 50);
  const std::vector<plateau::Run> runs = written(table);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].instants.size(), 100u);
  EXPECT_EQ(runs[0].series.size(), 2u);
}

TEST(FigureTable, StepsThatGoBackAreANewRun) {
  FigureTable table;
  for (int i = 0; i < 50; ++i) table.add(rss(table), kStart + i, i, 100 + i);
  for (int i = 0; i < 30; ++i) table.add(rss(table), kStart + 100 + i, i, 100 + i);
  const std::vector<plateau::Run> runs = written(table);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].instants.size(), 30u);
}

TEST(FigureTable, OfTwoNamesForOneFigureTheLongerIsKept) {
  FigureTable table;
  const size_t sampled = table.figure("proc.memory.rssMB", role_of_figure);
  for (int i = 0; i < 5; ++i) table.add(sampled, kStart + i * 10, -1, 900);
  for (int i = 0; i < 50; ++i) table.add(rss(table), kStart + i, i, 100 + i);
  const std::vector<plateau::Run> runs = written(table);
  ASSERT_EQ(runs.size(), 1u);
  ASSERT_EQ(runs[0].series.size(), 1u);
  EXPECT_EQ(runs[0].series[0].label, "rss_mb");
  ASSERT_EQ(runs[0].notes.size(), 1u);
  EXPECT_NE(runs[0].notes[0].find("proc.memory.rssMB"), std::string::npos);
}

TEST(FigureTable, ProcessesThatCountTheSameStepsShareRows) {
  FigureTable table;
  for (const char* name : {"rank0", "rank1"}) {
    table.process(name);
    // The second one is a little late, as ranks are.
    const double late = name[4] == '1' ? 1.7 : 0;
    for (int i = 0; i < 20; ++i) table.add(rss(table), kStart + i + late, i, 100 + i);
  }
  const std::vector<plateau::Run> runs = written(table);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].processes.size(), 2u);
  EXPECT_EQ(runs[0].instants.size(), 20u);
}

TEST(FigureTable, ARankInANameIsAProcess) {
  FigureTable table;
  for (int i = 0; i < 20; ++i) {
    for (const std::string rank : {"0", "1", "2"}) {
      const size_t figure = table.figure("perf/rank" + rank + "/rss_mb", role_of_figure);
      table.add(figure, kStart + i + 0.1 * (rank[0] - '0'), i, 100 + i);
    }
  }
  const std::vector<plateau::Run> runs = written(table);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].instants.size(), 20u);
  EXPECT_EQ(runs[0].series.size(), 3u);
  ASSERT_EQ(runs[0].processes.size(), 3u);
  EXPECT_EQ(runs[0].processes[1].name, "rank 1");
  EXPECT_TRUE(runs[0].notes.empty());
}

TEST(FigureNames, TheProcessIsFoundWhereverItStands) {
  EXPECT_EQ(process_in_name("rank3/rss_mb").label, "rank 3");
  EXPECT_EQ(process_in_name("rank3/rss_mb").rest, "rss_mb");
  EXPECT_EQ(process_in_name("perf/rank_12/rss_mb").rest, "perf/rss_mb");
  EXPECT_EQ(process_in_name("rss_mb.rank:0").label, "rank 0");
  EXPECT_EQ(process_in_name("Worker 7 memory").label, "worker 7");
  EXPECT_EQ(process_in_name("proc.memory.rssMB").label, "");
  EXPECT_EQ(process_in_name("gpu.0.memoryAllocatedBytes").label, "");
  EXPECT_EQ(process_in_name("gpu.process.0.memoryAllocatedBytes").label, "");
}

TEST(FigureNames, DiskPercentagesAndWhatWasEverAllocatedAreNoMemory) {
  const auto is_memory = [](std::string_view name) {
    return role_of_figure(name).kind == ColumnRole::Kind::memory;
  };
  EXPECT_TRUE(is_memory("memory/rss_mb"));
  EXPECT_TRUE(is_memory("system/gpu.0.memoryAllocatedBytes"));
  EXPECT_TRUE(is_memory("DeviceStatsMonitor.on_train_batch_end/allocated_bytes.all.current"));
  EXPECT_FALSE(is_memory("DeviceStatsMonitor.on_train_batch_end/allocated_bytes.all.allocated"));
  EXPECT_FALSE(is_memory("active_bytes.large_pool.current"));
  EXPECT_FALSE(is_memory("disk./.usageGB"));
  EXPECT_FALSE(is_memory("train/loss"));
}

}  // namespace
}  // namespace plateau
