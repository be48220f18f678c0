// SPDX-License-Identifier: Apache-2.0
// Runs that had to stop and go on: bad data, a mended dataset, a folder that was moved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/loop/checkpoint.h"
#include "trainer/loop/training_case_for_test.h"

namespace plateau::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Mending, BadDataSavesTheStepsBeforeIt) {
  Case whole;
  ASSERT_TRUE(whole.go().ok());

  Case run;
  run.data.fails_at = 11;
  const auto failed = run.go();
  ASSERT_FALSE(failed.ok());
  const auto steps = static_cast<int64_t>(run.watcher.steps.size());
  ASSERT_GT(steps, 0);
  EXPECT_THAT(failed.error().message, HasSubstr("list line 12: bad; saved "));
  EXPECT_THAT(failed.error().message, HasSubstr(fmt::format("checkpoint-{}: mend", steps)));

  // Mended: the dataset has other bytes, as many examples, and goes on as if nothing had been.
  run.data.fails_at = -1;
  run.options.dataset_fingerprint = "d2";
  run.options.resume_from = run.options.output_directory / fmt::format("checkpoint-{}", steps);
  EXPECT_THAT(run.go().error().message, HasSubstr("--accept-changed-data"));
  run.options.accepts_changed_data = true;
  ASSERT_TRUE(run.go().ok());
  EXPECT_THAT(run.watcher.notes, testing::ElementsAre(HasSubstr("goes on in the same order")));
  EXPECT_EQ(run.weights, whole.weights);
}

TEST(Mending, BadDataOfAnEvaluationSavesToo) {
  Case run;
  run.eval_data = ListSource::Options{.examples = 5, .fails_at = 2};
  run.options.eval_steps = 3;
  const auto failed = run.go();
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("checkpoint-3: mend"));
  EXPECT_TRUE(read_checkpoint(run.options.output_directory / "checkpoint-3").ok());
}

TEST(Mending, BadDataOfTheFirstStepLeavesNothingToSave) {
  Case run;
  run.data = {.examples = 2, .fails_at = 0};
  const auto failed = run.go();
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, testing::Not(HasSubstr("saved")));
  EXPECT_TRUE(list_checkpoints(run.options.output_directory).empty());
}

TEST(Mending, MoreExamplesMayBeAcceptedOtherSettingsNot) {
  Case run;
  run.stop_at = 11;  // Near the end of the second epoch.
  run.options.resume_from = run.go().value().last_checkpoint;
  run.stop_at = -1;
  run.data.examples = 14;  // This epoch is over.
  run.options.dataset_fingerprint = "d2";
  run.options.accepts_changed_data = true;
  ASSERT_TRUE(run.go().ok());
  EXPECT_THAT(run.watcher.notes, testing::ElementsAre(HasSubstr("another number of batches")));
  EXPECT_EQ(run.watcher.steps.back().step, 16);
  run.options.optimizer.learning_rate = 0.5;
  EXPECT_THAT(run.go().error().message, HasSubstr("other settings"));
}

TEST(Mending, TheBestCheckpointIsFoundInAFolderThatWasMoved) {
  Case run;
  run.eval_data = ListSource::Options{.examples = 5};
  run.options.eval_steps = 4;
  run.stop_at = 8;
  const auto first = run.go();
  ASSERT_TRUE(first.ok()) << first.error().message;
  const std::string best = fs::path(first.value().best_checkpoint).filename();

  const fs::path moved = run.scratch.path() / "elsewhere";
  fs::rename(run.options.output_directory, moved);
  run.options.output_directory = moved;
  run.options.resume_from = moved / "checkpoint-8";
  // Nothing can be better from here on: the old one stays the best.
  run.options.optimizer.learning_rate = 2e-2;
  run.stop_at = 9;
  const auto second = run.go();
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second.value().best_checkpoint, moved / best);

  fs::remove_all(moved / best);
  run.options.resume_from = moved / "checkpoint-9";
  run.stop_at = 10;
  const auto third = run.go();
  ASSERT_TRUE(third.ok()) << third.error().message;
  EXPECT_THAT(run.watcher.notes, testing::ElementsAre(HasSubstr("is not there any more")));
  EXPECT_TRUE(third.value().best_checkpoint.empty());
}

}  // namespace
}  // namespace plateau::train
