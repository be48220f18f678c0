// SPDX-License-Identifier: Apache-2.0
#include "cli/prove_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProveReport report_after(int64_t steps) {
  ProveReport report;
  report.result.design = ProveDesign{.size = 12, .batch = 8};
  report.result.steps = steps;
  return report;
}

TEST(ProveWords, AFactorThatLeftNothingOutProvesNothing) {
  ProveRequest request;
  request.contrast = {"no-eval", "evaluations left out", {}, "Trainer.evaluate"};
  ProveReport report = report_after(120);
  EXPECT_THAT(nothing_proved(report, request), HasSubstr("no call that --contrast no-eval"));
  report.result.acted = 1;
  EXPECT_EQ(nothing_proved(report, request), "");
}

TEST(ProveWords, BatchesThatStayedAsTheyWereProveNothing) {
  ProveRequest request;
  request.contrast = {"batch", "batches of half the size", {{"as it is"}, {"half the batch"}}, ""};
  ProveReport report = report_after(240);
  report.other_batch = 8;
  EXPECT_THAT(nothing_proved(report, request), HasSubstr("batches of 8"));
  report.other_batch = 16;
  EXPECT_EQ(nothing_proved(report, request), "");
  // A stream's are not told.
  report.other_batch = 8;
  report.result.design->stream = true;
  EXPECT_EQ(nothing_proved(report, request), "");
}

TEST(ProveWords, BlocksThatWereTakenByAnEvaluationAreNotTakenForTheEndOfTheJob) {
  ProveReport report = report_after(120);
  report.result.blocks.resize(3);
  report.result.idle = 6;
  ProveRequest request;
  request.steps = 120;
  EXPECT_THAT(prove_text(report, request), HasSubstr("In 6 of 9 blocks"));
  EXPECT_THAT(prove_text(report, request), Not(HasSubstr("Odds")));
}

TEST(ProveWords, WithoutAContrastNothingNeedBeLeftOut) {
  EXPECT_EQ(nothing_proved(report_after(58), {}), "");
}

}  // namespace
}  // namespace plateau
