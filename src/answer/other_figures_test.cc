// SPDX-License-Identifier: Apache-2.0
#include "answer/other_figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "answer/answer.h"
#include "recording/other_figures.h"

namespace plateau {
namespace {

constexpr int kInstants = 200;

// Level memory, with another figure beside it that grows by `rate` MB at each step.
plateau::Run level_beside(double rate) {
  plateau::Run run;
  run.context.epoch_steps = Fact{20, "test"};
  run.processes.push_back({});
  Series ram{0, Metric::memory, "ram.current", {}};
  Gauge heap{std::string(kOtherFigure) + "heap.current", 0, {}};
  for (int i = 0; i < kInstants; ++i) {
    run.instants.push_back({.step = i});
    ram.mb.push_back(15000 + 3 * std::sin(i));
    heap.value.push_back(1200 + rate * i + 2 * std::cos(i));
  }
  run.series.push_back(std::move(ram));
  run.gauges.push_back(std::move(heap));
  return run;
}

TEST(OtherFigures, ALeakOfAnotherFigureTakesTheAllClearBackAndIsNamed) {
  const Verdict verdict = answer_run(level_beside(14)).verdict;
  EXPECT_EQ(verdict.word, Word::undecided);
  ASSERT_EQ(verdict.undecided_because.kind, FindingKind::other_figure_leaks);
  EXPECT_EQ(verdict.undecided_because.named("name")->text, "heap.current");
  EXPECT_EQ(verdict.undecided_because.named("judged")->text, "ram.current");
  EXPECT_NEAR(verdict.undecided_because.number("rate_mb_per_step")->value, 14, 1);
  EXPECT_EQ(verdict.missing.kind, FindingKind::memory_name_missing);
}

// Too short for the word leak, but nobody would call it harmless.
TEST(OtherFigures, OneThatLikelyLeaksTakesTheAllClearBackToo) {
  plateau::Run run = level_beside(14);
  run.context.epoch_steps.reset();
  run.instants.resize(60);
  run.series.front().mb.resize(60);
  run.gauges.front().value.resize(60);
  const Verdict verdict = answer_run(run).verdict;
  EXPECT_EQ(verdict.word, Word::undecided);
  EXPECT_EQ(verdict.undecided_because.kind, FindingKind::other_figure_leaks);
}

TEST(OtherFigures, AnotherFigureThatIsLevelTooChangesNothing) {
  const Verdict verdict = answer_run(level_beside(0)).verdict;
  EXPECT_EQ(verdict.word, Word::plateau);
  EXPECT_FALSE(verdict.undecided_because);
}

TEST(OtherFigures, OtherGaugesAreNotJudged) {
  plateau::Run run = level_beside(14);
  run.gauges.front().name = "requests_total";
  EXPECT_EQ(answer_run(run).verdict.word, Word::plateau);
}

}  // namespace
}  // namespace plateau
