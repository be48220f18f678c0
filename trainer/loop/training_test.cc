// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/training.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <simdjson.h>
#include <sys/resource.h>

#include <cmath>

#include "trainer/loop/checkpoint.h"
#include "trainer/loop/durable.h"
#include "trainer/loop/memory_tracker.h"
#include "trainer/loop/toy_learner_for_test.h"
#include "trainer/loop/training_case_for_test.h"

namespace plateau::train {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Training, LossFallsAndEndsInACheckpoint) {
  Case run;
  run.options.max_steps = 60;
  const auto result = run.go();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result.value().reason, StopReason::finished);
  EXPECT_EQ(result.value().steps, 60);
  EXPECT_LT(result.value().last_loss, 0.5 * run.watcher.steps.front().loss);
  EXPECT_EQ(result.value().last_checkpoint, run.options.output_directory / "checkpoint-60");
  EXPECT_TRUE(read_checkpoint(result.value().last_checkpoint).ok());
  // Warm-up: the first step learns nothing.
  EXPECT_EQ(run.watcher.steps[0].learning_rate, 0);
  EXPECT_DOUBLE_EQ(run.watcher.steps[3].learning_rate, 2e-2);
}

struct Exactness {
  OptimizerKind kind;
  double dropout;
  int64_t stop_at;  // An epoch has 6 steps.
  int64_t examples;
};
class Resuming : public testing::TestWithParam<Exactness> {};
INSTANTIATE_TEST_SUITE_P(Training, Resuming,
                         testing::Values(Exactness{OptimizerKind::adamw, 0, 8, 24},
                                         Exactness{OptimizerKind::adamw, 0.3, 8, 24},
                                         Exactness{OptimizerKind::adamw_8bit, 0.3, 8, 24},
                                         Exactness{OptimizerKind::adamw_8bit, 0, 6, 24},
                                         Exactness{OptimizerKind::adamw_8bit, 0.3, 9, 23}));

TEST_P(Resuming, SixteenStepsAreEightAndEightToTheBit) {
  Case whole;
  whole.options.optimizer.kind = GetParam().kind;
  whole.toy.dropout = GetParam().dropout;
  whole.data.examples = GetParam().examples;
  whole.eval_data = ListSource::Options{.examples = 5};
  whole.options.eval_steps = 4;
  ASSERT_TRUE(whole.go().ok());
  const std::vector<double> expected = whole.watcher.losses();
  ASSERT_EQ(expected.size(), 16U);

  Case halves;
  halves.options = whole.options;
  halves.options.output_directory = halves.scratch.path() / "out";
  halves.toy = whole.toy;
  halves.data = whole.data;
  halves.eval_data = whole.eval_data;
  halves.stop_at = GetParam().stop_at;
  const auto first = halves.go();
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first.value().reason, StopReason::signal);
  EXPECT_EQ(first.value().steps, GetParam().stop_at);
  std::vector<double> losses = halves.watcher.losses();

  // Another start: what is not in the checkpoint would show.
  halves.toy.seed = 99;
  halves.stop_at = -1;
  halves.options.resume_from = first.value().last_checkpoint;
  const auto second = halves.go();
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(halves.watcher.steps.front().step, GetParam().stop_at + 1);
  const std::vector<double> rest = halves.watcher.losses();
  losses.insert(losses.end(), rest.begin(), rest.end());

  EXPECT_EQ(losses, expected);
  EXPECT_EQ(halves.weights, whole.weights);
  for (const char* name : {"adapter_model.safetensors", "optimizer.safetensors",
                           "plateau_state.json", "adapter_config.json"}) {
    EXPECT_EQ(halves.file(16, name), whole.file(16, name)) << name;
  }
  const auto a = read_checkpoint(whole.options.output_directory / "checkpoint-16").value().state;
  const auto b = read_checkpoint(halves.options.output_directory / "checkpoint-16").value().state;
  ASSERT_EQ(a.log.size(), b.log.size());
  for (size_t i = 0; i < a.log.size(); ++i) EXPECT_EQ(a.log[i].values, b.log[i].values) << i;
  EXPECT_EQ(a.best_metric, b.best_metric);
  EXPECT_EQ(a.tokens_seen, b.tokens_seen);
}

TEST(Training, DropoutDiffersFromStepToStep) {
  Case with;
  with.toy.dropout = 0.5;
  with.options.optimizer.learning_rate = 0;
  with.data = {.examples = 2, .batch_size = 2};
  with.options.accumulate = 1;
  with.options.max_steps = 3;
  ASSERT_TRUE(with.go().ok());
  const std::vector<double> losses = with.watcher.losses();
  EXPECT_NE(losses[0], losses[1]);
  EXPECT_NE(losses[1], losses[2]);
}

TEST(Training, TokenWeightedLossDoesNotDependOnTheCut) {
  Case coarse;
  coarse.data.batch_size = 4;
  coarse.options.accumulate = 1;
  coarse.options.optimizer.kind = OptimizerKind::adamw;
  Case fine = {};
  fine.options = coarse.options;
  fine.options.output_directory = fine.scratch.path() / "out";
  fine.data.batch_size = 1;
  fine.options.accumulate = 4;
  ASSERT_TRUE(coarse.go().ok());
  ASSERT_TRUE(fine.go().ok());
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(fine.watcher.steps[i].loss, coarse.watcher.steps[i].loss, 1e-5) << i;
    EXPECT_EQ(fine.watcher.steps[i].tokens, coarse.watcher.steps[i].tokens);
  }

  Case means;
  means.options = fine.options;
  means.options.output_directory = means.scratch.path() / "out";
  means.options.per_batch_mean = true;
  means.data = fine.data;
  ASSERT_TRUE(means.go().ok());
  EXPECT_GT(std::abs(means.watcher.steps[0].loss - fine.watcher.steps[0].loss), 1e-3);
}

TEST(Training, PerBatchMeanIsTheMeanOfTheBatchesMeans) {
  // Each example alone, without learning; then both in one step.
  const auto loss_of = [](int64_t examples, int64_t accumulate, size_t step) {
    Case run;
    run.data = {.examples = examples, .batch_size = 1};
    run.options.accumulate = accumulate;
    run.options.optimizer.learning_rate = 0;
    run.options.per_batch_mean = true;
    run.options.max_steps = 2;
    EXPECT_TRUE(run.go().ok());
    return run.watcher.steps[step].loss;
  };
  const double mean = (loss_of(2, 1, 0) + loss_of(2, 1, 1)) / 2;
  EXPECT_NEAR(loss_of(2, 2, 0), mean, 1e-9);
}

TEST(Training, EpochsMayBeAFractionAndTheirLastStepMayBeSmall) {
  Case run;
  run.options.max_steps = -1;
  run.options.epochs = 1.5;
  run.data = {.examples = 14, .batch_size = 2};  // 7 batches: 4 steps an epoch.
  const auto result = run.go();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().steps, 6);
  EXPECT_EQ(run.watcher.steps[0].total_steps, 6);
  std::vector<double> epochs;
  epochs.reserve(run.watcher.steps.size());
  for (const auto& step : run.watcher.steps) epochs.push_back(step.epoch);
  EXPECT_THAT(epochs, ElementsAre(2.0 / 7, 4.0 / 7, 6.0 / 7, 1, 1 + 2.0 / 7, 1 + 4.0 / 7));
}

TEST(Training, BestCheckpointIsKeptWhileOthersGo) {
  Case run;
  run.options.max_steps = 24;
  run.options.save_steps = 4;
  run.options.save_total_limit = 2;
  run.options.eval_steps = 4;
  // It learns, then the rate is far too high: the best one is an early one.
  run.options.optimizer.learning_rate = 0.3;
  run.options.schedule = ScheduleKind::constant_with_warmup;
  run.options.warmup_steps = 40;
  run.options.optimizer.max_grad_norm = 0;
  run.eval_data = ListSource::Options{.examples = 7};
  const auto result = run.go();
  ASSERT_TRUE(result.ok()) << result.error().message;
  ASSERT_EQ(run.watcher.evaluations.size(), 6U);
  double best = 1e9;
  int64_t best_step = 0;
  for (const EvalReport& report : run.watcher.evaluations) {
    EXPECT_EQ(report.is_best, report.loss < best);
    if (report.loss < best) best_step = report.step;
    best = std::min(best, report.loss);
  }
  EXPECT_EQ(result.value().best_eval_loss, best);
  EXPECT_EQ(result.value().best_checkpoint,
            run.options.output_directory / fmt::format("checkpoint-{}", best_step));
  EXPECT_TRUE(read_checkpoint(result.value().best_checkpoint).ok());
  EXPECT_TRUE(read_checkpoint(result.value().last_checkpoint).ok());
  EXPECT_LE(list_checkpoints(run.options.output_directory).size(), 2U);
}

TEST(Training, EvaluatesWithEachEpochOrNever) {
  Case run;  // An epoch has 6 steps.
  run.options.eval_strategy = EvalStrategy::epoch;
  run.eval_data = ListSource::Options{.examples = 4};
  ASSERT_TRUE(run.go().ok());
  std::vector<int64_t> at;
  for (const EvalReport& report : run.watcher.evaluations) at.push_back(report.step);
  EXPECT_THAT(at, ElementsAre(6, 12, 16));

  Case never;
  never.options.eval_strategy = EvalStrategy::none;
  never.options.save_steps = 4;
  never.eval_data = ListSource::Options{.examples = 4};
  ASSERT_TRUE(never.go().ok());
  EXPECT_TRUE(never.watcher.evaluations.empty());
}

TEST(Training, StopsEarlyWithoutImprovement) {
  Case run;
  run.options.optimizer.learning_rate = 0;
  run.options.max_steps = 100;
  run.options.eval_steps = 2;
  run.options.early_stopping_patience = 3;
  run.eval_data = ListSource::Options{.examples = 4};
  const auto result = run.go();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().reason, StopReason::early);
  EXPECT_EQ(result.value().steps, 8);  // The first is the best; three more are not better.
  EXPECT_EQ(fs::path(result.value().best_checkpoint).filename(), "checkpoint-2");
}

TEST(Training, ThresholdIsWhatAnImprovementMustExceed) {
  Case run;
  run.options.max_steps = 40;
  run.options.eval_steps = 2;
  run.options.early_stopping_patience = 2;
  run.options.early_stopping_threshold = 100;
  run.eval_data = ListSource::Options{.examples = 4};
  const auto result = run.go();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().reason, StopReason::early);
  EXPECT_EQ(result.value().steps, 6);
}

TEST(Training, LossThatIsNotFiniteNamesStepAndExamples) {
  Case run;
  run.toy.poison = 7;
  run.data.poisoned = 20;
  run.options.max_steps = 30;
  run.options.save_steps = 1;
  const auto result = run.go();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("nan"));
  EXPECT_THAT(result.error().message, HasSubstr("21"));
  const auto step = static_cast<int64_t>(run.watcher.steps.size());
  EXPECT_THAT(result.error().message, HasSubstr(fmt::format("step {}:", step + 1)));
  if (step > 0) {
    EXPECT_EQ(list_checkpoints(run.options.output_directory).back().filename(),
              fmt::format("checkpoint-{}", step));
  }
}

TEST(Training, ErrorOfTheDataComesThrough) {
  Case run;
  run.data.fails_at = 11;
  const auto result = run.go();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, testing::StartsWith("list line 12: bad"));
}

TEST(Training, SkippedBatchesCountAsTakenAndChangeNothingElse) {
  Case run;
  run.data.skipped_at = 3;
  run.options.accumulate = 1;
  run.options.max_steps = 13;
  ASSERT_TRUE(run.go().ok());
  // 12 batches an epoch, one of them without rows: 11 steps, then the second epoch.
  EXPECT_EQ(run.watcher.steps[2].epoch, 3.0 / 12);
  EXPECT_EQ(run.watcher.steps[3].epoch, 5.0 / 12);
  EXPECT_EQ(run.watcher.steps[10].epoch, 1);
  Case nothing;
  nothing.data = {.examples = 2, .batch_size = 2, .skipped_at = 0};
  const auto result = nothing.go();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, Error::Kind::no_samples);
}

TEST(Training, MemoryLimitLeadsToACheckpoint) {
  Case run;
  run.options.memory_limit_bytes = 1;
  const auto result = run.go();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().reason, StopReason::memory_limit);
  EXPECT_EQ(result.value().steps, 1);
  EXPECT_THAT(run.watcher.saved, ElementsAre(1));
  EXPECT_GT(run.watcher.steps[0].resident_bytes, 1'000'000);
}

TEST(Training, TensorsAliveAreTheSameAfterEveryStep) {
  install_memory_tracker();
  Case run;
  run.options.max_steps = 50;
  run.options.eval_steps = 7;
  run.options.save_steps = 11;
  run.eval_data = ListSource::Options{.examples = 5};
  ASSERT_TRUE(run.go().ok());
  for (const StepReport& step : run.watcher.steps) {
    EXPECT_EQ(step.tensor_bytes, run.watcher.steps[0].tensor_bytes) << step.step;
    EXPECT_EQ(step.tensor_storages, run.watcher.steps[0].tensor_storages) << step.step;
    EXPECT_GT(step.tensor_peak_bytes, step.tensor_bytes);
  }
}

TEST(Training, OwnersSayWhatTheyHold) {
  install_memory_tracker();
  Case run;
  run.options.max_steps = 3;
  run.options.optimizer.kind = OptimizerKind::adamw;
  const RunMemory memory = run.go().value().memory;
  EXPECT_EQ(memory.gradients, memory.adapters);
  EXPECT_EQ(memory.optimizer, 2 * memory.adapters);  // Two states of 32 bits for each weight.
  EXPECT_GT(memory.activations * memory.images, 0);
}

// From step 3 on no file may grow beyond 8 kB. Not in a child: LibTorch's threads do not survive a
// fork.
struct DiskFiller final : TrainingObserver {
  rlimit before{};
  DiskFiller() {
    ::getrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, SIG_IGN);
  }
  ~DiskFiller() override { ::setrlimit(RLIMIT_FSIZE, &before); }
  DiskFiller(const DiskFiller&) = delete;
  DiskFiller& operator=(const DiskFiller&) = delete;
  void stepped(const StepReport& report) override {
    const rlimit limit{.rlim_cur = 8192, .rlim_max = before.rlim_max};
    if (report.step == 3) ::setrlimit(RLIMIT_FSIZE, &limit);
  }
};

TEST(Training, FullDiskEndsTheRunAndTheLastCheckpointStays) {
  Case run;
  run.options.save_steps = 2;
  {
    DiskFiller filler;
    const auto learner = make_toy({});
    ListSource source({});
    const auto result = train(*learner, source, nullptr, run.options, filler, {});
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().message, HasSubstr("checkpoint of step 4 not written"));
  }
  const auto all = list_checkpoints(run.options.output_directory);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(read_checkpoint(all[0]).ok());
  EXPECT_EQ(all[0].filename(), "checkpoint-2");
  // There is room again: it goes on from there.
  run.options.resume_from = all[0];
  EXPECT_TRUE(run.go().ok());
}

TEST(Training, ResumeRefusesAnotherDatasetOrOtherSettings) {
  Case run;
  run.stop_at = 2;
  const fs::path checkpoint = run.go().value().last_checkpoint;
  run.options.resume_from = checkpoint;
  run.stop_at = -1;

  run.options.dataset_fingerprint = "d2";
  auto refused = run.go();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("another dataset (fingerprint d1, now d2)"));
  run.options.dataset_fingerprint = "d1";

  run.options.optimizer.learning_rate = 0.5;
  refused = run.go();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("learning_rate was 0.02, is 0.5"));
  run.options.optimizer.learning_rate = 2e-2;

  run.toy.vocabulary = 97;
  refused = run.go();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("lora_A.weight is F32 [96, 64], the model has"));
  run.toy.vocabulary = 96;
  EXPECT_TRUE(run.go().ok());
}

TEST(Training, NewRunRefusesADirectoryWithCheckpoints) {
  Case run;
  run.stop_at = 2;
  ASSERT_TRUE(run.go().ok());
  const auto again = run.go();
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr("holds checkpoint-2 already"));
}

TEST(Training, ResumedAtTheEndNothingIsLeft) {
  Case run;
  run.options.max_steps = 3;
  run.options.resume_from = run.go().value().last_checkpoint;
  const auto again = run.go();
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(run.watcher.steps.empty());
  EXPECT_EQ(again.value().steps, 3);
}

TEST(Training, LogHasOneLineAStepAndNoneTwiceAfterResuming) {
  Case run;
  run.options.save_steps = 4;
  run.stop_at = 6;
  ASSERT_TRUE(run.go().ok());
  run.options.resume_from = run.options.output_directory / "checkpoint-4";
  run.stop_at = -1;
  ASSERT_TRUE(run.go().ok());
  const std::string log = read_whole(run.options.output_directory / "log.jsonl").value();
  std::vector<int64_t> steps;
  simdjson::dom::parser parser;
  for (size_t at = 0; at < log.size(); at = log.find('\n', at) + 1) {
    const std::string line = log.substr(at, log.find('\n', at) - at);
    const simdjson::dom::element element = parser.parse(line);
    if (element["loss"].error() == simdjson::SUCCESS) steps.push_back(int64_t(element["step"]));
  }
  std::vector<int64_t> expected(16);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(steps, expected);
}

}  // namespace
}  // namespace plateau::train
