// SPDX-License-Identifier: Apache-2.0
// TensorBoard's and W&B's files, as the door reads them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/encode_for_test.h"
#include "import/import.h"

namespace plateau {
namespace {

using namespace testing_bytes;

constexpr double kStart = 1.79e9;

std::string event_file(int count) {
  std::string bytes = tfrecord(double_field(1, kStart) + bytes_field(3, "brain.Event:2"));
  for (int i = 0; i < count; ++i) {
    bytes += tfrecord(event(kStart + i, i * 10, "train/loss", 1.0 / (i + 1)));
    bytes += tfrecord(event(kStart + i + 0.1, i * 10, "memory/rss_mb", 3000 + 2.0 * i));
  }
  return bytes;
}

TEST(Tensorboard, ScalarsThatNameMemoryAreReadWithTheirSteps) {
  const auto runs = import_bytes("events", event_file(30));
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs.value().size(), 1u);
  const plateau::Run& run = runs.value()[0];
  EXPECT_EQ(run.format, "tensorboard");
  ASSERT_EQ(run.instants.size(), 30u);
  EXPECT_EQ(run.instants.back().step, 290);
  EXPECT_NEAR(run.instants.back().time_s, kStart + 29.1, 1e-6);
  ASSERT_EQ(run.series.size(), 1u);
  EXPECT_EQ(run.series[0].metric, Metric::rss);
  EXPECT_EQ(run.series[0].mb.back(), 3058);
}

// As TensorFlow 2 writes a scalar: a tensor without dimensions.
TEST(Tensorboard, AScalarMayBeATensorOfOneNumber) {
  const auto with = [](const std::string& tensor) {
    std::string bytes;
    for (int i = 0; i < 3; ++i) {
      const std::string value = bytes_field(1, "rss_bytes") + bytes_field(8, tensor);
      bytes += tfrecord(double_field(1, kStart + i) + number_field(2, 1 + i) +
                        bytes_field(5, bytes_field(1, value)));
    }
    return import_bytes("events", bytes);
  };
  const std::string content = little(std::bit_cast<uint32_t>(5e8f), 4);
  for (const std::string& tensor :
       {number_field(1, 1) + bytes_field(4, content), number_field(1, 1) + float_field(5, 5e8f),
        number_field(1, 1) + bytes_field(5, content), number_field(1, 2) + double_field(6, 5e8),
        number_field(1, 9) + number_field(10, 500'000'000)}) {
    const auto runs = with(tensor);
    ASSERT_TRUE(runs.ok()) << runs.error().message;
    EXPECT_EQ(runs.value()[0].instants.size(), 3u);
    EXPECT_NEAR(runs.value()[0].series[0].mb[0], 500, 1e-9);
  }
  EXPECT_FALSE(with(number_field(1, 1) + bytes_field(4, content + content)).ok());
}

TEST(Tensorboard, AFileWithoutMemoryNamesWhatItHolds) {
  const auto runs = import_bytes("events", tfrecord(event(kStart, 1, "train/loss", 1)));
  ASSERT_FALSE(runs.ok());
  EXPECT_EQ(runs.error().message,
            "events is a TensorBoard event file, but none of its scalars is named like memory: "
            "'train/loss'");
}

TEST(Tensorboard, DamageBecomesANote) {
  std::string bytes = event_file(30);
  bytes[bytes.size() - 6] ^= 1;
  const auto runs = import_bytes("events", bytes);
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs.value()[0].instants.size(), 29u);
  ASSERT_EQ(runs.value()[0].notes.size(), 1u);
  EXPECT_EQ(runs.value()[0].notes[0], "1 of 61 records have a wrong checksum and were left out");
}

std::vector<std::string> wandb_records(int count) {
  std::vector<std::string> records;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<uint64_t>(1'790'000'000 + i * 10);
    records.push_back(wandb_history(at, static_cast<uint64_t>(i * 5), "loss", "0.5"));
    records.push_back(wandb_stats(at + 1, "proc.memory.rssMB", std::to_string(100 + i)));
    records.push_back(wandb_stats(at + 1, "gpu.0.memoryAllocatedBytes", "2e9"));
    records.push_back(wandb_stats(at + 1, "memory_percent", "71.5"));
    records.push_back(wandb_stats(at + 1, "gpu.0.memoryAllocated", "40"));
    records.push_back(wandb_stats(at + 1, "disk./.usageGB", "300"));
  }
  return records;
}

TEST(WandbRun, SamplesOfTheMachineTakeTheStepsOfTheHistory) {
  const auto runs = import_bytes("run.wandb", wandb_file(wandb_records(40)));
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs.value().size(), 1u);
  const plateau::Run& run = runs.value()[0];
  ASSERT_EQ(run.instants.size(), 40u);
  EXPECT_EQ(run.instants.back().step, 39 * 5);
  ASSERT_EQ(run.series.size(), 2u);
  EXPECT_EQ(run.series[0].metric, Metric::rss);
  EXPECT_NEAR(run.series[0].mb.back(), 139 * 1.048576, 1e-9);  // W&B's MB is a MiB.
  EXPECT_EQ(run.series[1].metric, Metric::gpu);
  EXPECT_NEAR(run.series[1].mb.back(), 2000, 1e-9);
}

TEST(WandbRun, ARunThatIsStillWrittenIsReadUpToItsEnd) {
  const std::string bytes = wandb_file(wandb_records(40));
  const auto runs =
      import_bytes("run.wandb", std::string_view(bytes).substr(0, bytes.size() - 150));
  ASSERT_TRUE(runs.ok());
  EXPECT_GE(runs.value()[0].instants.size(), 38u);
  EXPECT_TRUE(runs.value()[0].notes.empty());
}

}  // namespace
}  // namespace plateau
