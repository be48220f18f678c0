// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/run_plan.h"

#include <gtest/gtest.h>

#include "trainer/loop/run_log.h"

namespace plateau::train {
namespace {

TEST(RunLog, KeepsWholeLinesUpToTheStep) {
  const std::string log =
      "{\"step\":1}\n{\"step\":2}\n{\"step\":2,\"eval_loss\":1}\n{\"step\":3}\n{\"st";
  EXPECT_EQ(kept_log_bytes(log, 0), 0U);
  EXPECT_EQ(kept_log_bytes(log, 1), 11U);
  EXPECT_EQ(kept_log_bytes(log, 2), 47U);
  EXPECT_EQ(kept_log_bytes(log, 9), 58U);
  EXPECT_EQ(kept_log_bytes("garbage\n", 9), 0U);
}

TEST(RunPlan, StepsFollowTheRuleOfTransformers) {
  TrainingOptions options;
  options.accumulate = 8;
  options.epochs = 3;
  EXPECT_EQ(plan_run(options, 83).value().steps_per_epoch, 11);
  EXPECT_EQ(plan_run(options, 83).value().total_steps, 33);
  options.epochs = 0.5;
  EXPECT_EQ(plan_run(options, 83).value().total_steps, 6);
  options.max_steps = 4;
  EXPECT_EQ(plan_run(options, 83).value().total_steps, 4);
  EXPECT_FALSE(plan_run(options, 0).ok());
  options.accumulate = 0;
  EXPECT_FALSE(plan_run(options, 83).ok());
}

TEST(RunPlan, WarmUpIsAShareOfAllStepsRoundedUp) {
  TrainingOptions options;
  options.max_steps = 33;
  EXPECT_EQ(plan_run(options, 83).value().warmup_steps, 10);
  options.warmup_ratio = 0.1;
  EXPECT_EQ(plan_run(options, 83).value().warmup_steps, 4);
  options.warmup_ratio = 0;
  EXPECT_EQ(plan_run(options, 83).value().warmup_steps, 0);
  for (const double wrong : {-0.1, 1.5}) {
    options.warmup_ratio = wrong;
    EXPECT_FALSE(plan_run(options, 83).ok());
  }
}

// A run may be prolonged: its warm-up is then a share of the new length.
TEST(RunPlan, SettingsHoldTheRatioAndNotTheStepsItGives) {
  TrainingOptions options;
  options.warmup_ratio = 0.1;
  options.max_steps = 33;
  const std::string before = settings_fingerprint(options, 83, 1);
  options.max_steps = 330;
  EXPECT_EQ(fingerprint_difference(before, settings_fingerprint(options, 83, 1)), "");
  options.warmup_ratio = 0.2;
  EXPECT_EQ(fingerprint_difference(before, settings_fingerprint(options, 83, 1)),
            "warmup_ratio was 0.1, is 0.2");
}

TEST(RunPlan, DifferenceNamesTheFirstSettingThatChanged) {
  EXPECT_EQ(fingerprint_difference("a=1; seed=42; x=2", "a=1; seed=42; x=2"), "");
  EXPECT_EQ(fingerprint_difference("a=1; seed=42; x=2", "a=1; seed=43; x=3"), "seed was 42, is 43");
  EXPECT_EQ(fingerprint_difference("a=1", "b=2"), "\"a=1\" became \"b=2\"");
}

}  // namespace
}  // namespace plateau::train
