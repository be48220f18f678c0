// SPDX-License-Identifier: Apache-2.0
// Who holds what grows, found in real Pythons of every version from outside.
#include "census/holders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "census/census.h"
#include "census/python_target.h"

namespace plateau {
namespace {

// For a machine that does other things too; nothing here is about time.
constexpr double kPatientS = 60;
constexpr uint64_t kOnce = 20;  // The program grows by multiples of it.

class HoldersOfPython : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const std::string python = python_for_test(GetParam());
    if (python.empty()) GTEST_SKIP() << "python 3." << GetParam() << " is not installed";
    target_.emplace(
        std::vector<std::string>{python, PLATEAU_SOURCE_DIR "/tests/census/holders.py"});
    ASSERT_EQ(target_->said(), "ready");
    grow();
    Result<Census> first = look(nullptr);
    ASSERT_TRUE(first.ok()) << first.error().message;
    before_ = std::move(first.value());
  }

  void grow() { ASSERT_EQ(target_->ask(std::to_string(kOnce)), "grown"); }

  Result<Census> look(const HolderIndex* before) {
    return take_census(target_->pid(),
                       {.max_stop_s = kPatientS, .holders = true, .before = before});
  }

  // Looks again after the program has grown.
  std::vector<Holder> grown() {
    grow();
    Result<Census> second = look(&before_.holders.index);
    EXPECT_TRUE(second.ok()) << (second.ok() ? "" : second.error().message);
    if (!second.ok()) return {};
    EXPECT_EQ(second.value().holders.trouble, "");
    return std::move(second.value().holders.holders);
  }

  std::optional<PythonTarget> target_;
  Census before_;
};

const Holder* find(const std::vector<Holder>& holders, HolderKind kind, const std::string& path) {
  const auto found = std::ranges::find_if(
      holders, [&](const Holder& holder) { return holder.kind == kind && holder.path == path; });
  return found == holders.end() ? nullptr : &*found;
}

struct Expected {
  HolderKind kind;
  std::string path;
  std::string type;
  uint64_t rate;  // Times kOnce.
  std::string held;
};

TEST_P(HoldersOfPython, EveryKindOfVariableIsNamedWithWhatItGainedAndHolds) {
  const std::vector<Holder> holders = grown();
  const std::vector<Expected> all = {
      {HolderKind::local, "losses", "list", 1, "__main__.Thing"},
      {HolderKind::global, "everything", "list", 2, "__main__.Thing"},
      {HolderKind::class_attribute, "Dataset.seen", "list", 3, "__main__.Thing"},
      {HolderKind::global, "dataset.cache", "dict", 4, "__main__.Thing"},
      {HolderKind::global, "dataset.raw", "dict", 5, "bytes"},
      {HolderKind::global, "trainer.history.records", "list", 6, "__main__.Thing"},
      {HolderKind::global, "trainer.history.logs", "list", 1, "dict"},
      {HolderKind::lru_cache, "decode", "dict", 7, "list"},
      {HolderKind::lru_cache, "decode_some", "dict", 8, "list"},
      {HolderKind::closure, "remembered", "list", 9, "__main__.Thing"},
      {HolderKind::local, "collected", "list", 10, "__main__.Thing"},
      {HolderKind::global, "queue", "collections.deque", 11, "__main__.Thing"},
      {HolderKind::global, "unique", "set", 12, "__main__.Thing"},
      {HolderKind::global, "state['losses']", "list", 13, "__main__.Thing"},
      {HolderKind::global, "by_question[*]", "list", 19, "__main__.Thing"},
      {HolderKind::local, "of_thread", "list", 14, "__main__.Thing"},
      {HolderKind::global, "slotted.items", "list", 15, "__main__.Thing"},
      {HolderKind::local, "rebound", "list", 16, "__main__.Thing"},
      {HolderKind::global, "by_name[*]", "list", 20, "__main__.Thing"},
  };
  for (const Expected& expected : all) {
    const Holder* holder = find(holders, expected.kind, expected.path);
    ASSERT_NE(holder, nullptr) << expected.path;
    EXPECT_EQ(holder->type, expected.type) << expected.path;
    EXPECT_EQ(holder->length_before, expected.rate * kOnce) << expected.path;
    EXPECT_EQ(holder->length_after, 2 * expected.rate * kOnce) << expected.path;
    ASSERT_FALSE(holder->holds.empty()) << expected.path;
    EXPECT_EQ(holder->holds.front().type, expected.held) << expected.path;
    EXPECT_EQ(holder->holds.front().count, holder->length_after) << expected.path;
  }
}

TEST_P(HoldersOfPython, ItemsOfWhatGrewAreNotNamedBesideIt) {
  const std::vector<Holder> holders = grown();
  EXPECT_EQ(find(holders, HolderKind::global, "trainer.history.logs[*]"), nullptr);
  EXPECT_TRUE(std::ranges::none_of(
      holders, [](const Holder& holder) { return holder.kind == HolderKind::unseen; }));
}

TEST_P(HoldersOfPython, WhatPlateausOwnModuleHoldsIsNotTheJobs) {
  EXPECT_EQ(find(grown(), HolderKind::global, "module_of_plateau.drawn"), nullptr);
}

TEST_P(HoldersOfPython, TorchsTableOfStoragesThatProcessesShareIsNobodysGrowth) {
  EXPECT_EQ(find(grown(), HolderKind::global, "shared_cache"), nullptr);
}

TEST_P(HoldersOfPython, ObjectsThatAreLinkedOneByOneAreAChain) {
  const std::vector<Holder> holders = grown();
  const Holder* chain = find(holders, HolderKind::global, "head.next");
  ASSERT_NE(chain, nullptr);
  EXPECT_TRUE(chain->chain);
  EXPECT_EQ(chain->type, "__main__.Node");
  EXPECT_EQ(chain->grew(), static_cast<int64_t>(17 * kOnce));
}

TEST_P(HoldersOfPython, FunctionsAreNamedWithFileAndLine) {
  const std::vector<Holder> holders = grown();
  const Holder* losses = find(holders, HolderKind::local, "losses");
  ASSERT_NE(losses, nullptr);
  EXPECT_EQ(losses->function, "train");
  EXPECT_THAT(losses->file, ::testing::EndsWith("holders.py"));
  const Holder* closed = find(holders, HolderKind::closure, "remembered");
  ASSERT_NE(closed, nullptr);
  EXPECT_THAT(closed->function, ::testing::EndsWith("step"));
  const Holder* owned = find(holders, HolderKind::global, "dataset.cache");
  ASSERT_NE(owned, nullptr);
  EXPECT_EQ(owned->owner, "__main__.Dataset");
  // It waits for the next line on standard input: the line of the loop is where it stands.
  EXPECT_GT(losses->line, 100);
  EXPECT_LT(losses->line, 160);
}

TEST_P(HoldersOfPython, NothingIsNamedWhereNothingGrew) {
  Result<Census> second = look(&before_.holders.index);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_TRUE(second.value().holders.holders.empty())
      << second.value().holders.holders.front().path;
}

TEST_P(HoldersOfPython, OneLookNamesTheLongest) {
  ASSERT_FALSE(before_.holders.holders.empty());
  for (const char* path : {"rebound", "slotted.items"}) {
    EXPECT_TRUE(std::ranges::any_of(before_.holders.holders, [&](const Holder& holder) {
      return holder.path == path && holder.length_after == holder.length_before;
    })) << path;
  }
  EXPECT_GT(before_.holders.objects_reached, before_.objects / 2);
}

INSTANTIATE_TEST_SUITE_P(Versions, HoldersOfPython, ::testing::Values(0, 8, 9, 10, 11, 12, 13, 14),
                         [](const auto& parameter) {
                           return parameter.param == 0 ? std::string("System")
                                                       : "Minor" + std::to_string(parameter.param);
                         });

}  // namespace
}  // namespace plateau
