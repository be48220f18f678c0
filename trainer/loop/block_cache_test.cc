// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/block_cache.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace plateau::train {
namespace {

constexpr size_t kMb = size_t{1} << 20;

TEST(BlockCache, FreedBlockServesTheNextOfItsSize) {
  BlockCache cache;
  const MappedBlock first = cache.take(3 * kMb);
  cache.give(first);
  const MappedBlock second = cache.take(3 * kMb - 5000);
  EXPECT_EQ(second.address, first.address);
  EXPECT_EQ(cache.kept_bytes(), 0U);
  cache.give(second);
}

TEST(BlockCache, BlockThatIsMuchLargerIsNotWastedOnASmallOne) {
  BlockCache cache;
  const MappedBlock large = cache.take(8 * kMb);
  cache.give(large);
  const MappedBlock small = cache.take(kMb);
  EXPECT_NE(small.address, large.address);
  EXPECT_EQ(small.bytes, kMb);
  cache.give(small);
}

TEST(BlockCache, KeepingAddsNothingToThePeak) {
  BlockCache cache;
  cache.give(cache.take(8 * kMb));
  const MappedBlock next = cache.take(6 * kMb);
  // 8 kept and 6 used would be more than was ever in use.
  EXPECT_EQ(cache.kept_bytes(), 0U);
  EXPECT_EQ(cache.peak_bytes(), 8 * kMb);
  cache.give(next);
}

TEST(BlockCache, DropKeepsNothing) {
  BlockCache cache;
  const MappedBlock used = cache.take(kMb);
  cache.give(cache.take(2 * kMb));
  cache.drop();
  EXPECT_EQ(cache.kept_bytes(), 0U);
  EXPECT_EQ(cache.used_bytes(), kMb);
  std::memset(used.address, 1, used.bytes);  // Still there.
  cache.give(used);
}

TEST(BlockCache, MoreThanThereIsComesBackAsNothing) {
  BlockCache cache;
  EXPECT_EQ(cache.take(SIZE_MAX).address, nullptr);
  EXPECT_EQ(cache.take(SIZE_MAX / 2).address, nullptr);
  EXPECT_EQ(cache.used_bytes(), 0U);
}

RC_GTEST_PROP(BlockCache, UsedAndKeptAreNeverMoreThanWasUsedAtOnce, ()) {
  BlockCache cache;
  std::vector<MappedBlock> used;
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-40, 60));
  for (const int step : steps) {
    if (step > 0) {
      const MappedBlock block = cache.take(static_cast<size_t>(step) * 50'000);
      const bool exists = block.address != nullptr;
      RC_ASSERT(exists);
      RC_ASSERT(block.bytes >= static_cast<size_t>(step) * 50'000);
      for (const MappedBlock& other : used) {
        const bool differs = other.address != block.address;
        RC_ASSERT(differs);
      }
      used.push_back(block);
    } else if (!used.empty()) {
      const size_t at = static_cast<size_t>(-step) % used.size();
      cache.give(used[at]);
      used.erase(used.begin() + static_cast<std::ptrdiff_t>(at));
    }
    RC_ASSERT(cache.used_bytes() + cache.kept_bytes() <= cache.peak_bytes());
  }
  for (const MappedBlock& block : used) cache.give(block);
  RC_ASSERT(cache.used_bytes() == 0);
}

TEST(BlockCache, ThreadsMayTakeAndGiveAtOnce) {
  BlockCache cache;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 200; ++i) {
        const MappedBlock block = cache.take(static_cast<size_t>(200'000 + 1000 * i));
        std::memset(block.address, t, block.bytes);
        EXPECT_EQ(static_cast<const char*>(block.address)[block.bytes - 1], t);
        cache.give(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.used_bytes(), 0U);
}

}  // namespace
}  // namespace plateau::train
