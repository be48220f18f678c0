// SPDX-License-Identifier: Apache-2.0
#include "verdict/said.h"

#include <gtest/gtest.h>

#include <string>

#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

// 60 steps at 10 s each that grow by 10 MB, from 1 GB.
plateau::Run growing(size_t steps = 60, bool with_steps = true) {
  plateau::Run run;
  run.processes.push_back({.id = 1});
  run.series.push_back({0, Metric::pss_anon, "pss_anon", {}});
  for (size_t i = 0; i < steps; ++i) {
    const auto step = static_cast<int64_t>(i);
    run.instants.push_back(
        {.step = with_steps ? step : -1, .time_s = 10.0 * static_cast<double>(i)});
    run.series[0].mb.push_back(1000 + 10 * static_cast<double>(i));
  }
  run.context.limit_mb = Fact{2000, "--limit"};
  return run;
}

void say(plateau::Run& run, size_t instant, const std::string& text) {
  run.events.push_back({instant, EventKind::oom, text});
}

const Finding* found(const Verdict& verdict, FindingKind kind) {
  for (const Finding& finding : verdict.evidence) {
    if (finding.kind == kind) return &finding;
  }
  return nullptr;
}

double number(const Finding& finding, std::string_view name) {
  const Number* found = finding.number(name);
  return found == nullptr ? -1 : found->value;
}

TEST(Said, WordsAtTheEndComeFirstWithWhatWasHeld) {
  plateau::Run run = growing();
  run.ending = {Ending::Kind::exited, 1, ""};
  say(run, 59, "MemoryError: Unable to allocate 7.45 GiB for an array with shape (9,)");
  const Verdict verdict = judge(run);
  ASSERT_FALSE(verdict.evidence.empty());
  const Finding& first = verdict.evidence.front();
  EXPECT_EQ(first.kind, FindingKind::last_words);
  EXPECT_EQ(number(first, "said_step"), 59);
  EXPECT_NEAR(number(first, "held_mb"), 1590, 1);
  EXPECT_NEAR(number(first, "asked_mb"), 7999.4, 0.1);
  EXPECT_EQ(number(first, "allowed_mb"), 2000);
  EXPECT_EQ(first.named("message")->text, "host-memory");
}

TEST(Said, TheWordDoesNotDependOnWhatWasSaid) {
  plateau::Run run = growing();
  const Verdict before = judge(run);
  say(run, 59, "MemoryError");
  const Verdict after = judge(run);
  EXPECT_EQ(before.word, after.word);
  EXPECT_EQ(before.confidence, after.confidence);
}

TEST(Said, WhatIsFollowedByStepsEndedNothing) {
  plateau::Run run = growing();
  run.ending = {Ending::Kind::exited, 1, ""};
  say(run, 40, "CUDA out of memory. Retrying with a smaller batch");
  const Verdict verdict = judge(run);
  EXPECT_EQ(found(verdict, FindingKind::last_words), nullptr);
  const Finding* passing = found(verdict, FindingKind::said_and_went_on);
  ASSERT_NE(passing, nullptr);
  EXPECT_EQ(number(*passing, "said_step"), 40);
}

TEST(Said, AJobThatSucceededDiedOfNothing) {
  plateau::Run run = growing();
  run.ending = {Ending::Kind::exited, 0, ""};
  say(run, 59, "MemoryError");
  EXPECT_EQ(found(judge(run), FindingKind::last_words), nullptr);
}

TEST(Said, WithoutStepsAMinuteOfLifeIsGoingOnUnlessTheJobDied) {
  plateau::Run run = growing(60, false);
  say(run, 50, "MemoryError");
  EXPECT_NE(found(judge(run), FindingKind::said_and_went_on), nullptr);
  run.ending = {Ending::Kind::exited, 1, ""};
  EXPECT_NE(found(judge(run), FindingKind::last_words), nullptr);
}

TEST(Said, OfSeveralAtTheEndTheFirstIsTheCause) {
  plateau::Run run = growing();
  say(run, 58, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.");
  say(run, 59, "failed (exitcode: -9) local_rank: 0");
  const Verdict verdict = judge(run);
  EXPECT_EQ(verdict.evidence.front().named("message")->text, "gpu-memory");
}

TEST(Said, UnderALimitOnAddressSpaceThatIsTheReason) {
  plateau::Run run = growing();
  run.gauges.push_back({std::string(kAddressLimit), 0, std::vector<double>(60, 4294.97)});
  say(run, 59, "MemoryError");
  const Finding first = judge(run).evidence.front();
  EXPECT_EQ(first.named("message")->text, "address-limit");
  EXPECT_EQ(number(first, "address_limit_mb"), 4294.97);
}

TEST(Said, AFullShmIsToldWithItsSize) {
  plateau::Run run = growing();
  run.gauges.push_back({std::string(kShmSize), 0, std::vector<double>(60, 67)});
  run.gauges.push_back({std::string(kShmUsed), 0, std::vector<double>(60, 66)});
  say(run, 59, "DataLoader worker (pid 7) is killed by signal: Bus error.");
  const Finding first = judge(run).evidence.front();
  EXPECT_EQ(number(first, "shm_size_mb"), 67);
  EXPECT_EQ(number(first, "shm_used_mb"), 66);
}

TEST(Said, WhatTheWatcherSawIsNoQuote) {
  plateau::Run run = growing();
  run.ending = {Ending::Kind::oom_killed, 9, ""};
  say(run, 59, "the kernel OOM-killed the job");
  EXPECT_EQ(judge(run).evidence.front().kind, FindingKind::killed_for_memory);
}

}  // namespace
}  // namespace plateau
