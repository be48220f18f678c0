// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/self_watch.h"
#include "recording/checks_for_test.h"

#include <gtest/gtest.h>

namespace plateau::train {
namespace {

constexpr int64_t kMb = 1'000'000;

SelfWatch watched(int64_t steps, int64_t (*bytes_at)(int64_t)) {
  SelfWatch watch;
  watch.began(steps, 663, 8, 663.0 / 8);
  for (int64_t step = 1; step <= steps; ++step) {
    watch.stepped(step, static_cast<double>(step) * 8 / 663, bytes_at(step));
  }
  return watch;
}

TEST(SelfWatch, LevelMemoryIsAPlateau) {
  const SelfWatch watch = watched(250, [](int64_t step) { return 400 * kMb + step % 7 * 1000; });
  EXPECT_EQ(watch.verdict().word, Word::plateau);
}

TEST(SelfWatch, GrowthThatEndsWithTheFirstEpochIsNoLeak) {
  const SelfWatch watch = watched(250, [](int64_t step) {
    return (5400 + std::min<int64_t>(step, 83) * 150) * kMb + step % 5 * kMb;
  });
  EXPECT_EQ(watch.verdict().word, Word::plateau);
}

TEST(SelfWatch, SteadyGrowthIsALeak) {
  const SelfWatch watch =
      watched(600, [](int64_t step) { return (400 + step * 2) * kMb + step % 5 * 1000; });
  EXPECT_EQ(watch.verdict().word, Word::leak);
}

TEST(SelfWatch, StaysSmallHoweverLongTheRun) {
  const SelfWatch watch = watched(100'000, [](int64_t step) { return 400 * kMb + step % 3; });
  EXPECT_LT(watch.run().instants.size(), SelfWatch::kMaxSamples);
  EXPECT_GT(watch.run().instants.size(), SelfWatch::kMaxSamples / 4);
  EXPECT_EQ(check_shape(watch.run()), "");
  EXPECT_EQ(watch.verdict().word, Word::plateau);
}

TEST(SelfWatch, ReadsItsOwnMemory) {
  const OwnMemory own = own_memory();
  EXPECT_GT(own.resident_bytes, kMb);
  EXPECT_GE(own.peak_bytes, own.resident_bytes);
}

}  // namespace
}  // namespace plateau::train
