// SPDX-License-Identifier: Apache-2.0
#include "inject/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inject/testing/running_target.h"

namespace plateau {
namespace {

using testing::HasSubstr;

const ExperimentOptions kPatient{.inject = {.timeout_s = 60}, .collect_timeout_s = 60};
constexpr uint64_t kMb = 1'000'000;

MemoryFigures figures(uint64_t rss_mb, uint64_t in_use_mb) {
  MemoryFigures made;
  made.resident.rss = rss_mb * kMb;
  made.allocator.in_use = in_use_mb * kMb;
  return made;
}

TEST(JudgeExperiment, RssThatFallsWithUseUnchangedIsRetention) {
  EXPECT_EQ(judge_experiment(Experiment::trim, figures(497, 7), figures(70, 7), {}),
            TrialResult::retention);
}

TEST(JudgeExperiment, RssThatStaysIsNeither) {
  EXPECT_EQ(judge_experiment(Experiment::trim, figures(497, 488), figures(496, 488), {}),
            TrialResult::neither);
}

TEST(JudgeExperiment, WhatTheProgramFreedItselfProvesNothing) {
  EXPECT_EQ(judge_experiment(Experiment::trim, figures(497, 480), figures(70, 60), {}),
            TrialResult::neither);
}

TEST(JudgeExperiment, UseThatFallsWithObjectsFoundIsCycles) {
  EXPECT_EQ(judge_experiment(Experiment::gc, figures(180, 170), figures(179, 10), 200000),
            TrialResult::cycles);
  EXPECT_EQ(judge_experiment(Experiment::gc, figures(180, 170), figures(180, 170), 3),
            TrialResult::neither);
}

TEST(Trim, TellsRetentionFromUse) {
  RunningTarget retains({PLATEAU_INJECT_TARGET, "retain"});
  RunningTarget holds({PLATEAU_INJECT_TARGET, "hold"});
  const auto retained = run_experiment(retains.pid(), Experiment::trim, kPatient);
  const auto held = run_experiment(holds.pid(), Experiment::trim, kPatient);
  ASSERT_TRUE(retained.ok()) << retained.error().message;
  ASSERT_TRUE(held.ok()) << held.error().message;
  EXPECT_EQ(retained.value().finding, TrialResult::retention);
  EXPECT_GT(retained.value().before.resident.rss, retained.value().after.resident.rss + 50 * kMb);
  EXPECT_EQ(held.value().finding, TrialResult::neither);
  EXPECT_GT(held.value().after.allocator.in_use.value_or(0), 90 * kMb);
  EXPECT_EQ(retains.end(), 0);
  EXPECT_EQ(holds.end(), 0);
}

TEST(Trim, WorksWithOtherAllocators) {
  for (const auto& [library, name] : {std::pair{"libjemalloc.so.2", "jemalloc"},
                                      {"libtcmalloc_minimal.so.4", "tcmalloc"},
                                      {"libmimalloc.so.2.0", "mimalloc"}}) {
    const std::string path = std::string("/usr/lib/x86_64-linux-gnu/") + library;
    if (::access(path.c_str(), R_OK) != 0) {
      std::printf("not installed: %s\n", library);
      continue;
    }
    RunningTarget target({PLATEAU_INJECT_TARGET, "retain"}, path);
    ASSERT_TRUE(target.ready());
    const auto outcome = run_experiment(target.pid(), Experiment::trim, kPatient);
    ASSERT_TRUE(outcome.ok()) << name << ": " << outcome.error().message;
    EXPECT_EQ(outcome.value().before.allocator.name, name);
    EXPECT_TRUE(outcome.value().before.allocator.system) << name;
    EXPECT_EQ(target.end(), 0) << name;
  }
}

TEST(AskAllocator, AgreesWithWhatTheProgramHolds) {
  RunningTarget target({PLATEAU_INJECT_TARGET, "hold"});
  const auto figures = ask_allocator(target.pid(), {.timeout_s = 60});
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  EXPECT_EQ(figures.value().name, "glibc");
  // 50,000 blocks of 2000 bytes, each rounded up to 2016.
  EXPECT_NEAR(static_cast<double>(figures.value().in_use.value_or(0)), 50000.0 * 2016, 1e6);
}

constexpr const char* kCycles =
    "import gc, time\n"
    "gc.disable()\n"
    "class A: pass\n"
    "for i in range(20000):\n"
    " a = A(); a.b = A(); a.b.a = a; a.x = bytes(1000)\n"
    "del a\n"
    "before = set(globals())\n"
    "print('ready')\n"
    "while True:\n"
    " time.sleep(0.05)\n"
    " if set(globals()) - before - {'before'}: print('names left behind')\n";

TEST(Gc, FindsCyclesWhereTheCollectorIsSwitchedOff) {
  RunningTarget target({"/usr/bin/python3", "-c", kCycles});
  ASSERT_TRUE(target.ready());
  const auto outcome = run_experiment(target.pid(), Experiment::gc, kPatient);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome.value().finding, TrialResult::cycles);
  EXPECT_GE(outcome.value().collected.value_or(0), 40000);
  EXPECT_TRUE(target.alive());
  EXPECT_EQ(target.end(), -SIGTERM);
  EXPECT_EQ(target.line(), "");
}

TEST(Gc, SaysWhenPythonDidNotComeToIt) {
  RunningTarget target({"/usr/bin/python3", "-c", "import time\nprint('ready')\ntime.sleep(600)"});
  ASSERT_TRUE(target.ready());
  const auto outcome = run_experiment(target.pid(), Experiment::gc,
                                      {.inject = {.timeout_s = 60}, .collect_timeout_s = 0.3});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome.value().finding, TrialResult::pending);
  EXPECT_FALSE(outcome.value().notes.empty());
}

TEST(Gc, IsRefusedWhereThereIsNoPython) {
  RunningTarget target({PLATEAU_INJECT_TARGET});
  const auto outcome = run_experiment(target.pid(), Experiment::gc, kPatient);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, HasSubstr("no Python interpreter"));
}

}  // namespace
}  // namespace plateau
