// SPDX-License-Identifier: Apache-2.0
// The header for GoogleTest on real memory: limits are an order of magnitude from what is done.
#include "plateau_gtest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace plateau {
namespace {

using testing::HasSubstr;
using testing::Not;

// Touched, so that it is resident, and known to nobody else, so that it is not optimised away.
std::unique_ptr<char[]> block(std::size_t size) {
  std::unique_ptr<char[]> bytes(new char[size]);
  std::memset(bytes.get(), 1, size);
  return bytes;
}

TEST(GrowthInTests, MemoryThatIsKeptGrowsByItsSize) {
  std::vector<std::unique_ptr<char[]>> kept;
  // when
  const Growth growth = growth_of([&] { kept.push_back(block(200'000)); }, allowing(20'000, 20));
  // then
  EXPECT_EQ(growth.word, GrowthWord::grows);
  EXPECT_NEAR(growth.mid, 200'000, 20'000);
  EXPECT_EQ(growth.over, 80);
  EXPECT_EQ(kept.size(), 5U + 20 * 7);
}

TEST(GrowthInTests, MemoryThatIsFreedIsLevelAfterOneStretch) {
  int calls = 0;
  const Growth growth = growth_of(
      [&] {
        block(200'000);
        ++calls;
      },
      allowing(20'000, 20));
  EXPECT_EQ(growth.word, GrowthWord::level);
  EXPECT_LT(growth.hidden, 20'000);
  EXPECT_EQ(calls, 25);
}

TEST(GrowthInTests, ACacheThatFillsIsNoLeak) {
  std::vector<std::unique_ptr<char[]>> cache(50);
  std::size_t turn = 0;
  EXPECT_PLATEAU(20'000, 20, cache[turn++ % cache.size()] = block(200'000));
}

TEST(GrowthInTests, OneLateJumpIsNoLeak) {
  std::vector<std::unique_ptr<char[]>> kept;
  int turn = 0;
  EXPECT_PLATEAU(20'000, 20, if (++turn == 17) kept.push_back(block(3'000'000)));
}

TEST(GrowthInTests, SmallBlocksAreSeenByMalloc) {
  std::vector<std::unique_ptr<char[]>> kept;
  kept.reserve(10'000);
  const Growth growth = growth_of([&] { kept.push_back(block(1'000)); }, allowing(100, 20));
  EXPECT_EQ(growth.word, GrowthWord::grows);
  EXPECT_NEAR(growth.mid, 1'000, 100);
}

TEST(GrowthInTests, ALeakTooLargeToRepeatIsJudgedByItsHalves) {
  std::vector<std::unique_ptr<char[]>> kept;
  GrowthOptions options = allowing(100'000, 20);
  options.patience_s = 0;
  const Growth growth = growth_of([&] { kept.push_back(block(1'000'000)); }, options);
  EXPECT_EQ(growth.word, GrowthWord::grows);
  EXPECT_EQ(kept.size(), 25U);
}

TEST(GrowthInTests, TheFailureSaysRateLimitAndWhatWouldTellMore) {
  std::vector<std::unique_ptr<char[]>> kept;
  // when
  const testing::AssertionResult result =
      stays_level([&] { kept.push_back(block(200'000)); }, allowing(20'000, 20));
  // then
  ASSERT_FALSE(result);
  const std::string said = result.message();
  EXPECT_THAT(said, testing::ContainsRegex("memory grew by 20[0-9] kB per call \\("));
  EXPECT_THAT(said, HasSubstr("over the last 80 of 140 calls; allowed: 20 kB per call"));
  EXPECT_THAT(said, HasSubstr("plateau run --heap -o growth.plateau -- /"));
  EXPECT_THAT(said, HasSubstr(" --gtest_filter=GrowthInTests.TheFailureSays"));
}

TEST(GrowthInTests, TheExpectationFailsWithIt) {
  static std::vector<std::unique_ptr<char[]>> kept;
  EXPECT_NONFATAL_FAILURE(EXPECT_PLATEAU(20'000, 20, kept.push_back(block(200'000))),
                          "memory grew by");
  kept.clear();
}

TEST(GrowthInTests, TheStatementsOwnFailureEndsTheCalls) {
  // In a process of its own, where the failure is a real one.
  if (std::getenv("FAIL_IN_THE_EIGHTH_CALL") != nullptr) {
    int calls = 0;
    EXPECT_PLATEAU(20'000, 20, SUCCEED(); EXPECT_LT(++calls, 8) << "call " << calls);
    return;
  }
  // when
  FILE* child =
      popen("FAIL_IN_THE_EIGHTH_CALL=1 /proc/$PPID/exe --gtest_filter=*EndsTheCalls", "r");
  ASSERT_NE(child, nullptr);
  std::string said;
  for (char line[512]; std::fgets(line, sizeof(line), child) != nullptr;) said += line;
  const int status = pclose(child);
  // then
  EXPECT_NE(status, 0);
  EXPECT_THAT(said, HasSubstr("call 8"));
  EXPECT_THAT(said, Not(HasSubstr("call 9")));
  EXPECT_THAT(said, Not(HasSubstr("memory grew")));
}

TEST(GrowthInTests, NoGrowthStatesWhatCouldHide) {
  const Growth growth = growth_of([] {}, allowing(0, 20));
  EXPECT_EQ(growth.word, GrowthWord::level);
  EXPECT_GT(growth.hidden, 0);
}

}  // namespace
}  // namespace plateau
