// SPDX-License-Identifier: Apache-2.0
// Stacks of threads and files in memory, of a real program under the real library.
#include "tracer/holdings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <set>
#include <sstream>

#include "tracer/testing/traced_run.h"

namespace plateau::trace::testing {
namespace {

struct Held {
  std::multiset<uint64_t> stacks;
  std::multiset<uint64_t> files;
};

Held truth_of(const std::string& output) {
  Held held;
  std::istringstream lines(output);
  std::string what;
  uint64_t bytes = 0;
  while (lines >> what >> bytes) {
    (what == "stack" ? held.stacks : held.files).insert(bytes);
  }
  return held;
}

// Addresses above all memory are those of holdings; the rest are mappings.
Held told_by(const SegmentContents& segment) {
  Held held;
  for (const auto& [address, block] : live_blocks(segment)) {
    if (block.kind == BlockKind::stack) {
      held.stacks.insert(block.bytes);
    } else if (block.kind == BlockKind::shared && address >> 63 != 0) {
      held.files.insert(block.bytes);
    }
  }
  return held;
}

class Holdings : public ::testing::TestWithParam<const char*> {};

TEST_P(Holdings, AreToldWhileTheyLastAndAsFarAsTouched) {
  const TracedRun run = run_traced({.command = {target_program("holdings")}, .mode = GetParam()});
  ASSERT_TRUE(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0) << run.status;
  ASSERT_EQ(run.segments.size(), 1U);
  EXPECT_FALSE(run.segments[0].damaged);
  EXPECT_EQ(run.segments[0].dropped, 0U);
  const Held truth = truth_of(run.output);
  const Held told = told_by(run.segments[0]);
  EXPECT_EQ(told.files, truth.files);
  ASSERT_EQ(told.stacks.size(), truth.stacks.size());
  for (auto touched = truth.stacks.begin(), bytes = told.stacks.begin();
       touched != truth.stacks.end(); ++touched, ++bytes) {
    // Besides its own use a thread has frames of libc and thread-local storage.
    EXPECT_GE(*bytes, *touched);
    EXPECT_LE(*bytes, *touched + 64 * 1024);
  }
}

TEST_P(Holdings, NameTheCallThatMadeThem) {
  const TracedRun run = run_traced({.command = {target_program("holdings")}, .mode = GetParam()});
  ASSERT_EQ(run.segments.size(), 1U);
  const SegmentContents& segment = run.segments[0];
  EXPECT_EQ(segment.stacks_missing, 0U);
  for (const auto& [address, block] : live_blocks(segment)) {
    if (address >> 63 == 0) continue;
    const auto stack = segment.stacks.find(block.stack);
    ASSERT_NE(stack, segment.stacks.end());
    ASSERT_FALSE(stack->second.native.empty());
    const uint64_t caller = stack->second.native.front();
    const bool in_program = std::any_of(segment.modules.begin(), segment.modules.end(),
                                        [caller](const ModuleText& module) {
                                          return module.begin <= caller && caller < module.end &&
                                                 module.path.find("/holdings") != std::string::npos;
                                        });
    EXPECT_TRUE(in_program) << std::hex << caller;
  }
}

INSTANTIATE_TEST_SUITE_P(Traced, Holdings, ::testing::Values("exact:0", "sampled:524288"),
                         [](const auto& mode) {
                           return std::string(mode.param).substr(0, 5) == "exact" ? "exact"
                                                                                  : "sampled";
                         });

}  // namespace
}  // namespace plateau::trace::testing
