// SPDX-License-Identifier: Apache-2.0
#include "answer/series.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "answer/answer.h"

namespace plateau {
namespace {

// `ranks` series over 120 steps and epochs of 20; what rank r holds at step i is mb(r, i).
template <typename Mb>
plateau::Run ranks_of(size_t ranks, Mb mb) {
  plateau::Run run;
  run.context.epoch_steps = Fact{20, "test"};
  for (int64_t i = 0; i < 120; ++i) run.instants.push_back({.step = i});
  for (size_t r = 0; r < ranks; ++r) {
    run.processes.push_back({.id = static_cast<int64_t>(r), .name = fmt::format("rank {}", r)});
    Series series{r, Metric::rss, "rss", {}};
    for (int64_t i = 0; i < 120; ++i) series.mb.push_back(mb(r, static_cast<double>(i)));
    run.series.push_back(series);
  }
  return run;
}

const Finding* find(const std::vector<Finding>& findings, FindingKind kind) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [kind](const Finding& finding) { return finding.kind == kind; });
  return found == findings.end() ? nullptr : &*found;
}

TEST(Series, TheOddOneIsNamed) {
  const Answer answer = answer_run(ranks_of(
      8, [](size_t r, double i) { return 900 + (r == 3 ? 4 * i : 0) + 0.3 * std::sin(i); }));
  EXPECT_EQ(answer.verdict.word, Word::leak);
  const Finding* odd = find(answer.verdict.evidence, FindingKind::series_odd);
  ASSERT_NE(odd, nullptr);
  EXPECT_EQ(odd->named("name")->text, "rank 3");
  EXPECT_EQ(odd->number("level")->value, 7);
}

TEST(Series, ALeakThatOthersCoverInTheSumIsStillALeak) {
  // Rank 0 gives back what rank 1 takes: the sum is level.
  const Answer answer = answer_run(ranks_of(2, [](size_t r, double i) {
    return r == 0 ? 2000 - 4 * i + 0.2 * std::sin(i) : 500 + 4 * i + 0.2 * std::cos(i);
  }));
  EXPECT_EQ(answer.verdict.word, Word::leak);
  EXPECT_NE(find(answer.verdict.warnings, FindingKind::one_series_judged), nullptr);
}

TEST(Series, ProcessesOfATreeAreNotJudgedOneByOne) {
  plateau::Run run = ranks_of(3, [](size_t, double i) { return 500 + i; });
  for (Process& process : run.processes) process.id_is_pid = true;
  const Answer answer = answer_run(run);
  EXPECT_EQ(find(answer.verdict.evidence, FindingKind::series_apart), nullptr);
  for (const ProcessGrowth& process : answer.verdict.processes) EXPECT_FALSE(process.alone);
}

}  // namespace
}  // namespace plateau
