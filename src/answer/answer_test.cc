// SPDX-License-Identifier: Apache-2.0
#include "answer/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "profile/example_profile_for_test.h"
#include "verdict/test_runs.h"

namespace plateau {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

plateau::Run growing(size_t instants) {
  return run_of(static_cast<int64_t>(instants) * 10, 10,
                [](double step) { return 1000 + (step > 1500 ? step - 1500 : 0); });
}

plateau::Run traced() {
  plateau::Run run = example_heap_run();
  Series owned{.process = 0, .metric = Metric::pss_anon, .label = "pss_anon", .mb = {}};
  for (const Instant& each : run.instants) owned.mb.push_back(100 + 0.03 * each.time_s);
  run.series.push_back(owned);
  return run;
}

TEST(Answer, VerdictIsThatOfJudge) {
  const plateau::Run run = with_production_context(run_of(production_run1()));
  const Answer answer = answer_run(run);
  const Verdict verdict = judge(run);
  EXPECT_EQ(answer.verdict.word, verdict.word);
  EXPECT_EQ(answer.verdict.confidence, verdict.confidence);
  EXPECT_EQ(answer.verdict.evidence, verdict.evidence);
  EXPECT_FALSE(answer.ahead.band.empty());
  EXPECT_FALSE(answer.floor.empty());
  EXPECT_FALSE(answer.heap);
  EXPECT_FALSE(answer.detail);
}

TEST(Answer, BadLinesAreCountedAndQuotedAfterTheImportersNotes) {
  plateau::Run run;
  run.lines_read = 1200;
  run.lines_bad = 3;
  run.bad_samples = {"line 17: '-3 MB'"};
  run.notes = {"summed over 4 GPUs"};
  const Answer answer = answer_run(run);
  EXPECT_THAT(answer.verdict.notes,
              ElementsAre("summed over 4 GPUs",
                          "3 of 1,200 lines looked like data but could not be read: "
                          "line 17: '-3 MB'."));
}

TEST(Answer, ARunIsCalledByItsFileAndOnlyThenByTheNameGiven) {
  plateau::Run run = growing(20);
  run.source = "job.plateau";
  EXPECT_EQ(answer_run(run, {.name = "pid 7"}).verdict.file, "job.plateau");
  run.source.clear();
  EXPECT_EQ(answer_run(run, {.name = "pid 7"}).verdict.file, "pid 7");
}

TEST(Answer, TheSiteIsThatOfTheHeapThatAnswers) {
  const plateau::Run run = traced();
  const Answer answer = answer_run(run);
  ASSERT_TRUE(answer.heap);
  EXPECT_EQ(answer.heap->pid, 4242);
  EXPECT_FALSE(answer.verdict.site.empty());
  EXPECT_EQ(answer.verdict.site, growth_place(*answer.heap));
  EXPECT_EQ(answer.heap->sites.front().course.empty(), false);
}

TEST(Answer, DetailSumsSeveralHeapsAndKeepsTheOneThatAnswers) {
  plateau::Run run = traced();
  run.heaps.push_back(run.heaps.front());
  run.heaps.back().pid = 4243;
  const Answer answer = detailed_answer(run);
  ASSERT_TRUE(answer.heap && answer.detail);
  EXPECT_EQ(answer.heap->pid, 4242);
  ASSERT_EQ(answer.detail->profiles.size(), 1u);
  EXPECT_EQ(answer.detail->profiles.front().pid, 0);
}

TEST(Answer, DetailOfARunWithoutHeapsHasWhatThePythonClientCounted) {
  plateau::Run run = traced();
  run.heaps.clear();
  const Answer answer = detailed_answer(run);
  EXPECT_FALSE(answer.heap);
  ASSERT_EQ(answer.detail->profiles.size(), 1u);
  EXPECT_EQ(answer.detail->profiles.front().types.front().name, "dict");
  EXPECT_THAT(detailed_answer(growing(40)).detail->profiles, IsEmpty());
}

TEST(Answer, MomentsEndInTheAnswerItself) {
  const Answer answer = detailed_answer(growing(300));
  ASSERT_FALSE(answer.detail->moments.empty());
  EXPECT_EQ(answer.detail->moments.back().word, answer.verdict.word);
  EXPECT_EQ(answer.detail->moments.back().last_step, answer.verdict.last_step);
  EXPECT_THAT(detailed_answer(growing(300), {.moments = 0}).detail->moments, IsEmpty());
}

// What a page of a live run costs: of the moments only new ones are judged.
TEST(Answer, DetailOfALongerRunTakesKnownMomentsOver) {
  const AnswerOptions options{.moments = 40};
  KnownMoments known;
  Answer before = answer_run(growing(500), options);
  add_detail(growing(500), options, known, before);
  for (auto& [count, moment] : known.moments) moment.title = "as judged before";

  Answer after = answer_run(growing(510), options);
  add_detail(growing(510), options, known, after);

  size_t judged = 0;
  for (const Verdict& moment : after.detail->moments) {
    judged += moment.title == "as judged before" ? 0 : 1;
  }
  EXPECT_LE(judged, 2u);  // The answer, and one more if the word has just changed.
  EXPECT_GT(after.detail->moments.size(), 10u);
}

TEST(Answer, MomentsAreJudgedAnewWhenAFactIsLearnedOrTheClockChanges) {
  const AnswerOptions options{.moments = 40};
  const auto taken_over = [&](const plateau::Run& later) {
    KnownMoments known;
    Answer before = answer_run(growing(500), options);
    add_detail(growing(500), options, known, before);
    for (auto& [count, moment] : known.moments) moment.title = "as judged before";
    Answer after = answer_run(later, options);
    add_detail(later, options, known, after);
    return std::count_if(after.detail->moments.begin(), after.detail->moments.end(),
                         [](const Verdict& moment) { return moment.title == "as judged before"; });
  };
  EXPECT_GT(taken_over(growing(510)), 0);
  EXPECT_EQ(taken_over(with_epoch(growing(510), 90)), 0);
  plateau::Run moved = growing(510);
  for (Instant& instant : moved.instants) ++instant.step;
  EXPECT_EQ(taken_over(moved), 0);
}

}  // namespace
}  // namespace plateau
