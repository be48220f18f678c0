// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/request.h"

#include <gmock/gmock.h>

#include "command/parse.h"
#include "trainer/cli/train_options.h"

namespace plateau::train {
namespace {

using ::testing::HasSubstr;

Result<TrainRequest> request(std::vector<std::string> more) {
  std::vector<std::string> words = {"-m", "model", "-d", "train.jsonl", "-o", "out"};
  words.insert(words.end(), more.begin(), more.end());
  const Result<Arguments> arguments = parse_arguments(train_verb(), words);
  if (!arguments) return arguments.error();
  return train_request_of(arguments.value());
}

TEST(TrainRequest, EvaluationsNeedADataset) {
  EXPECT_THAT(request({"--eval-steps", "5"}).error().message, HasSubstr("needs an --eval-dataset"));
  EXPECT_THAT(request({"--eval-strategy", "epoch"}).error().message,
              HasSubstr("needs an --eval-dataset"));
  EXPECT_EQ(request({"--eval-strategy", "no"}).value().training.eval_strategy, EvalStrategy::none);
  const std::vector<std::string> with = {"--eval-dataset", "e.jsonl", "--eval-strategy", "epoch"};
  EXPECT_EQ(request(with).value().training.eval_strategy, EvalStrategy::epoch);
  EXPECT_THAT(
      request({"--eval-dataset", "e.jsonl", "--eval-strategy", "epoch", "--eval-steps", "5"})
          .error()
          .message,
      HasSubstr("--eval-strategy steps only"));
}

TEST(TrainRequest, WarmUpIsGivenInStepsOrAsAShare) {
  EXPECT_EQ(request({"--warmup-ratio", "0.03"}).value().training.warmup_ratio, 0.03);
  EXPECT_EQ(request({}).value().training.warmup_ratio, std::nullopt);
  EXPECT_THAT(request({"--warmup-ratio", "0.1", "--warmup-steps", "5"}).error().message,
              HasSubstr("exclude each other"));
}

TEST(TrainRequest, CurvesLieBesideTheResultUnlessSaidOtherwise) {
  EXPECT_EQ(request({}).value().tensorboard, "");
  EXPECT_EQ(request({"--tensorboard"}).value().tensorboard, "out/tensorboard");
  EXPECT_EQ(request({"--tensorboard=runs/a"}).value().tensorboard, "runs/a");
}

TEST(TrainRequest, GeneratedAnswersNeedQuestions) {
  EXPECT_THAT(request({"--eval-generate", "5"}).error().message,
              HasSubstr("needs an --eval-dataset"));
  const TrainRequest asked = request({"--eval-dataset", "e.jsonl", "--eval-generate", "5"}).value();
  EXPECT_EQ(asked.sizing.eval_answers, 5);
  EXPECT_EQ(asked.sizing.max_new_tokens, 128);
}

TEST(TrainRequest, DefaultsAreThoseOfModelGarden) {
  const TrainRequest asked = request({}).value();
  EXPECT_EQ(asked.training.epochs, 3);
  EXPECT_EQ(asked.sizing.loader.batch_size, 1);
  EXPECT_EQ(asked.sizing.accumulate, 8);
  EXPECT_EQ(asked.training.accumulate, 8);
  EXPECT_EQ(asked.training.max_steps, -1);
  EXPECT_DOUBLE_EQ(asked.training.optimizer.learning_rate, 2e-5);
  EXPECT_EQ(asked.sizing.loader.max_seq_length, 2048);
  EXPECT_EQ(asked.sizing.model.lora.rank, 16);
  EXPECT_EQ(asked.sizing.model.lora.alpha, 16);
  EXPECT_EQ(asked.sizing.model.storage, BaseStorage::nf4);
  EXPECT_EQ(asked.sizing.optimizer, OptimizerKind::adamw_8bit);
  EXPECT_EQ(asked.training.schedule, ScheduleKind::cosine);
  EXPECT_EQ(asked.training.warmup_steps, 10);
  EXPECT_EQ(asked.training.save_total_limit, 3);
  EXPECT_TRUE(asked.is_merged);
}

TEST(TrainRequest, QualityModeMeansWhatModelGardenMeans) {
  const TrainRequest low = request({"--quality-mode"}).value();
  EXPECT_EQ(low.sizing.model.storage, BaseStorage::bf16);
  EXPECT_EQ(low.sizing.optimizer, OptimizerKind::adamw);
  EXPECT_FALSE(low.sizing.model.lora.rslora);
  EXPECT_TRUE(request({"--quality-mode", "--lora-r", "32"}).value().sizing.model.lora.rslora);
}

TEST(TrainRequest, StoragesExcludeEachOther) {
  const auto both = request({"--load-in-4bit", "--load-in-16bit"});
  ASSERT_FALSE(both.ok());
  EXPECT_THAT(both.error().message, HasSubstr("exclude each other"));
  EXPECT_FALSE(request({"--quality-mode", "--load-in-32bit"}).ok());
}

TEST(TrainRequest, NothingToTrainIsAnError) {
  const auto nothing =
      request({"--finetune-attention-modules", "false", "--finetune-mlp-modules", "false"});
  ASSERT_FALSE(nothing.ok());
  EXPECT_THAT(nothing.error().message, HasSubstr("nothing is left to train"));
}

TEST(TrainRequest, ResumeWithoutACheckpointIsAnError) {
  const auto resumed = request({"-o", "/nonexistent/out", "--resume"});
  ASSERT_FALSE(resumed.ok());
  EXPECT_THAT(resumed.error().message, HasSubstr("no checkpoint in /nonexistent/out"));
}

TEST(TrainRequest, SelectiveLossStartsWithStructure) {
  EXPECT_EQ(request({}).value().sizing.loader.loss, LossLevel::all);
  EXPECT_EQ(request({"--selective-loss"}).value().sizing.loader.loss, LossLevel::structure);
  EXPECT_EQ(request({"--selective-loss-level", "keys"}).value().sizing.loader.loss,
            LossLevel::keys);
}

TEST(TrainRequest, WhatIsMissingIsNamed) {
  const Result<Arguments> arguments =
      parse_arguments(train_verb(), std::vector<std::string>{"-m", "model", "-o", "out"});
  ASSERT_TRUE(arguments.ok());
  const auto missing = train_request_of(arguments.value());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "--dataset is missing");
}

}  // namespace
}  // namespace plateau::train
