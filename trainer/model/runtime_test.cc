// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/runtime.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>

namespace plateau::train {
namespace {

TEST(Runtime, UsesAsManyThreadsAsAskedFor) {
  EXPECT_EQ(use_threads(1), 1);
  EXPECT_GE(use_threads(0), 1);
}

// Without -fopenmp where it is compiled, at::parallel_for is a plain loop, in silence.
TEST(Runtime, LoopsOfOurOwnAreSharedAmongThreads) {
  use_threads(2);
  std::atomic<int> pieces = 0;
  at::parallel_for(0, 2, 1, [&](int64_t, int64_t) { ++pieces; });
  EXPECT_EQ(pieces, 2);
}

}  // namespace
}  // namespace plateau::train
