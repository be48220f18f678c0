// SPDX-License-Identifier: Apache-2.0
// Folders that the loggers themselves wrote (tests/fixtures/run-folders), and some made here.
#include "import/run_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "import/encode_for_test.h"
#include "recording/checks_for_test.h"

namespace plateau {
namespace {

namespace fs = std::filesystem;
using namespace testing_bytes;

const std::string kFolders = std::string(PLATEAU_SOURCE_DIR) + "/tests/fixtures/run-folders/";

class RunFolder : public testing::Test {
 protected:
  void SetUp() override {
    root_ =
        fs::temp_directory_path() / ("plateau-folder-" + std::to_string(::getpid()) + "-" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& bytes) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << bytes;
  }
  [[nodiscard]] Result<std::vector<plateau::Run>> read() const {
    return import_file(root_.string());
  }

  fs::path root_;
};

std::string events(double start, int count, double mb) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += tfrecord(event(start + i, i, "memory/rss_mb", mb + i));
  return bytes;
}

std::string json_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += R"({"system.proc.memory.rssMB": )" + std::to_string(200 + i) +
            R"(, "system.memory": 40.5, "_runtime": 1, "_timestamp": )" +
            std::to_string(1'600'000'000 + i * 30) + "}\n";
  }
  return text;
}

TEST_F(RunFolder, TensorboardsOwnFileIsReadWithBothKindsOfScalar) {
  const auto runs = import_file(kFolders + "tensorboard");
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs.value().size(), 1u);
  const plateau::Run& run = runs.value()[0];
  EXPECT_EQ(check_shape(run), "");
  ASSERT_EQ(run.instants.size(), 40u);
  EXPECT_EQ(run.instants.back().step, 390);
  ASSERT_EQ(run.series.size(), 2u);
  EXPECT_NEAR(run.series[0].mb.back(), 3000 + 3.5 * 39, 1e-9);
  EXPECT_EQ(run.series[1].metric, Metric::gpu);
  EXPECT_NEAR(run.series[1].mb.back(), 8000, 1e-9);
}

TEST_F(RunFolder, WandbsOwnRunHasItsProcessesRssAgainstSteps) {
  for (const char* folder : {"wandb", "wandb/offline-run-sample01"}) {
    const auto runs = import_file(kFolders + folder);
    ASSERT_TRUE(runs.ok()) << runs.error().message;
    ASSERT_EQ(runs.value().size(), 1u);
    const plateau::Run& run = runs.value()[0];
    EXPECT_EQ(check_shape(run), "");
    EXPECT_EQ(run.instants.size(), 50u);
    EXPECT_TRUE(run.has_steps());
    ASSERT_EQ(run.series.size(), 1u);
    EXPECT_EQ(run.series[0].label, "proc.memory.rssMB");
    EXPECT_NEAR(run.series[0].mb.back() - run.series[0].mb.front(), 184, 1);  // 60 blocks of 3 MB.
  }
}

TEST_F(RunFolder, MlflowsRunsComeInOrderAndTheLatestIsTheLast) {
  const auto runs = import_file(kFolders + "mlruns");
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs.value().size(), 2u);
  EXPECT_EQ(runs.value()[0].title, "0/run-1");
  EXPECT_EQ(runs.value()[1].title, "0/run-2");
  const plateau::Run& run = runs.value()[1];
  EXPECT_EQ(run.instants.size(), 25u);
  EXPECT_TRUE(run.has_steps());
  ASSERT_EQ(run.series.size(), 1u);
  EXPECT_EQ(run.series[0].metric, Metric::system_used);
  EXPECT_NEAR(run.series[0].mb.back(), 2797.7, 1e-9);
}

TEST_F(RunFolder, PartsOfAnMlflowRunAreEnough) {
  for (const char* part : {"mlruns/0/run-2", "mlruns/0/run-2/metrics",
                           "mlruns/0/run-2/metrics/system", "mlruns/0/run-2/metrics/system/"}) {
    const auto runs = import_file(kFolders + part);
    ASSERT_TRUE(runs.ok()) << part << ": " << runs.error().message;
    ASSERT_EQ(runs.value().size(), 1u) << part;
    EXPECT_EQ(runs.value()[0].instants.size(), 25u) << part;
  }
}

TEST_F(RunFolder, OneMlflowMetricIsReadWhenNamed) {
  ImportOptions options;
  options.format = "mlflow";
  const auto runs = import_file(
      kFolders + "mlruns/0/run-2/metrics/system/system_memory_usage_megabytes", options);
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  EXPECT_EQ(runs.value()[0].instants.size(), 25u);
}

TEST_F(RunFolder, OlderWandbFoldersHaveJsonLines) {
  write("run-1/files/wandb-events.jsonl", json_lines(20));
  write("run-1/files/wandb-history.jsonl", R"({"_step": 0, "_timestamp": 1600000000, "loss": 1})");
  const auto runs = read();
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs.value().size(), 1u);
  EXPECT_EQ(runs.value()[0].instants.size(), 20u);
  EXPECT_NEAR(runs.value()[0].series[0].mb[0], 200 * 1.048576, 1e-9);
}

TEST_F(RunFolder, EventFilesOneAfterTheOtherAreOneStory) {
  write("events.out.tfevents.1", events(1.79e9, 20, 100));
  write("events.out.tfevents.2", events(1.79e9 + 100, 30, 100));
  const auto runs = read();
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs.value().size(), 2u);
  EXPECT_EQ(runs.value()[1].title, "run 2 of 2");
  EXPECT_EQ(runs.value()[1].processes.size(), 1u);
}

TEST_F(RunFolder, EventFilesAtTheSameTimeAreProcesses) {
  write("events.out.tfevents.1.rank0", events(1.79e9, 20, 100));
  write("events.out.tfevents.1.rank1", events(1.79e9 + 0.3, 20, 500));
  const auto runs = read();
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs.value().size(), 1u);
  ASSERT_EQ(runs.value()[0].processes.size(), 2u);
  EXPECT_EQ(runs.value()[0].processes[1].name, "1.rank1");
  EXPECT_EQ(runs.value()[0].instants.size(), 20u);
}

TEST_F(RunFolder, RunsWithoutMemoryAreCounted) {
  write("a/events.out.tfevents.1", events(1.79e9, 20, 100));
  write("b/events.out.tfevents.1", tfrecord(event(1.79e9, 1, "loss", 1)));
  const auto runs = read();
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs.value().size(), 1u);
  EXPECT_EQ(runs.value()[0].title, "a");
  ASSERT_EQ(runs.value()[0].notes.size(), 1u);
  EXPECT_EQ(runs.value()[0].notes[0], "1 of 2 runs in this folder hold no memory figures");
}

TEST_F(RunFolder, AFolderWithoutRunsSaysWhatWasLookedFor) {
  write("notes.txt", "nothing");
  const auto runs = read();
  ASSERT_FALSE(runs.ok());
  EXPECT_EQ(runs.error().kind, Error::Kind::no_samples);
  EXPECT_EQ(runs.error().message,
            root_.string() +
                " is a folder without runs: neither MLflow's (meta.yaml beside metrics/), nor "
                "Weights & Biases' (*.wandb, wandb-events.jsonl), nor TensorBoard's (*tfevents*)");
}

TEST_F(RunFolder, ALinkThatLeadsInACircleEnds) {
  write("a/events.out.tfevents.1", events(1.79e9, 20, 100));
  fs::create_directory_symlink(root_, root_ / "a/again");
  const auto runs = read();
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  EXPECT_EQ(runs.value().size(), 1u);
}

}  // namespace
}  // namespace plateau
