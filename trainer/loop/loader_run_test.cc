// SPDX-License-Identifier: Apache-2.0
// The loop with the real loader: pictures, tokens and worker threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/data/data_for_test.h"
#include "trainer/loop/durable.h"
#include "trainer/loop/toy_learner_for_test.h"
#include "trainer/loop/training.h"

namespace plateau::train {
namespace {

struct LossList final : TrainingObserver {
  std::vector<double> losses;
  void stepped(const StepReport& report) override { losses.push_back(report.loss); }
};

struct LoaderRun {
  std::vector<double> losses;
  std::vector<float> weights;
  std::filesystem::path checkpoint;
};

LoaderRun run_with(const Dataset& dataset, const Tokenizer& tokenizer, int64_t workers,
                   const TrainingOptions& options, size_t stop_after) {
  Loader loader(dataset, tokenizer, {.batch_size = 2, .workers = workers});
  const auto learner = make_toy({.vocabulary = tokenizer.size(), .dropout = 0.2});
  LossList watcher;
  const auto result = train(*learner, loader, nullptr, options, watcher,
                            [&] { return watcher.losses.size() == stop_after; });
  EXPECT_TRUE(result.ok()) << result.error().message;
  return {watcher.losses, weights_in(*learner), result.value().last_checkpoint};
}

TEST(Training, ResumedInTheMiddleOfAnEpochWithWorkersItGoesOnToTheBit) {
  const ScratchDirectory folder;
  const auto dataset = Dataset::open(folder.write("train.jsonl", shapes_jsonl(11)), {});
  ASSERT_TRUE(dataset.ok());
  const Tokenizer tokenizer = small_tokenizer();
  TrainingOptions options;
  options.accumulate = 2;
  options.max_steps = 8;  // 6 batches, 3 steps an epoch.
  options.optimizer.learning_rate = 1e-2;
  options.warmup_steps = 1;
  options.dataset_fingerprint = fmt::format("{:016x}", dataset.value().fingerprint());

  options.output_directory = folder.path() / "whole";
  const LoaderRun whole = run_with(dataset.value(), tokenizer, 0, options, 0);
  ASSERT_EQ(whole.losses.size(), 8U);

  options.output_directory = folder.path() / "halves";
  LoaderRun first = run_with(dataset.value(), tokenizer, 2, options, 4);
  ASSERT_EQ(first.losses.size(), 4U);
  options.resume_from = first.checkpoint;
  const LoaderRun second = run_with(dataset.value(), tokenizer, 3, options, 0);
  first.losses.insert(first.losses.end(), second.losses.begin(), second.losses.end());
  EXPECT_EQ(first.losses, whole.losses);
  EXPECT_EQ(second.weights, whole.weights);
  EXPECT_EQ(read_whole(second.checkpoint / "optimizer.safetensors").value(),
            read_whole(whole.checkpoint / "optimizer.safetensors").value());
}

}  // namespace
}  // namespace plateau::train
