// SPDX-License-Identifier: Apache-2.0
#include "tracer/address_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tracer/sent_stacks.h"

namespace plateau::trace {
namespace {

using Set = AddressSet<size_t{1} << 14>;
constexpr size_t kFilterSlots = size_t{1} << 13;
using Filter = CountFilter<kFilterSlots, kPageShift>;

TEST(AddressSet, RemovesExactlyWhatWasInserted) {
  auto set = std::make_unique<Set>();
  auto filter = std::make_unique<Filter>();
  std::mt19937_64 random(1);
  std::vector<uint64_t> addresses;
  for (int i = 0; i < 9'000; ++i) {
    // Heap blocks, page-aligned ones and mapped chunks alike.
    const uint64_t step = i % 3 == 0 ? 16 : i % 3 == 1 ? 4096 : 1 << 20;
    addresses.push_back(0x550000000000 + static_cast<uint64_t>(i) * step * 3 + 16);
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  std::shuffle(addresses.begin(), addresses.end(), random);

  for (const uint64_t address : addresses) {
    ASSERT_TRUE(set->insert(address));
    filter->add(address);
  }
  EXPECT_EQ(set->size(), addresses.size());
  EXPECT_FALSE(set->remove(0x7f0000000010));

  std::shuffle(addresses.begin(), addresses.end(), random);
  for (const uint64_t address : addresses) {
    EXPECT_NE(filter->at(Filter::index(address)), 0);
    ASSERT_TRUE(set->remove(address));
    EXPECT_FALSE(set->remove(address));
    filter->remove(address);
  }
  EXPECT_EQ(set->size(), 0U);
  size_t left = 0;
  for (size_t i = 0; i < kFilterSlots; ++i) {
    left += filter->at(i);
  }
  EXPECT_EQ(left, 0U);
}

TEST(AddressSet, RefusesWhenItsWindowIsFull) {
  auto set = std::make_unique<AddressSet<64>>();
  for (uint64_t i = 1; i <= 64; ++i) {
    EXPECT_TRUE(set->insert(i * 16));
  }
  EXPECT_FALSE(set->insert(65 * 16));
  EXPECT_TRUE(set->remove(7 * 16));
  EXPECT_TRUE(set->insert(65 * 16));
}

TEST(AddressSet, ThreadsDoNotLoseEachOthersAddresses) {
  auto set = std::make_unique<Set>();
  auto filter = std::make_unique<Filter>();
  std::atomic<uint64_t> lost{0};
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t round = 0; round < 200; ++round) {
        for (uint64_t i = 0; i < 500; ++i) {
          const uint64_t address = (i * 4 + thread + 1) * 32;
          lost += set->insert(address) ? 0 : 1;
          filter->add(address);
        }
        for (uint64_t i = 0; i < 500; ++i) {
          const uint64_t address = (i * 4 + thread + 1) * 32;
          lost += filter->at(Filter::index(address)) == 0 ? 1 : 0;
          lost += set->remove(address) ? 0 : 1;
          filter->remove(address);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(lost.load(), 0U);
  EXPECT_EQ(set->size(), 0U);
}

TEST(AddressFilter, CounterThatIsFullStaysSo) {
  auto filter = std::make_unique<Filter>();
  for (int i = 0; i < 300; ++i) {
    filter->add(160);
  }
  for (int i = 0; i < 300; ++i) {
    filter->remove(160);
  }
  EXPECT_EQ(filter->at(Filter::index(160)), 255);
}

TEST(SentStacks, ForgetsTheOldForTheNewAndNeverInvents) {
  auto sent = std::make_unique<SentStacks<1024>>();
  std::mt19937_64 random(2);
  std::vector<uint64_t> ids(100'000);
  for (uint64_t& id : ids) {
    id = random() | 1;
    EXPECT_FALSE(sent->contains(id));
    sent->insert(id);
    EXPECT_TRUE(sent->contains(id));
  }
  const auto known =
      std::count_if(ids.begin(), ids.end(), [&](uint64_t id) { return sent->contains(id); });
  EXPECT_LE(known, 1024);
  EXPECT_GE(known, 900);
}

TEST(SentStacks, FewIdsStayOnFewPages) {
  constexpr size_t kIds = size_t{1} << 14;
  auto sent = std::make_unique<SentStacks<kIds>>();
  std::mt19937_64 random(3);
  for (int i = 0; i < 100; ++i) sent->insert(random() | 1);
  const auto* bytes = reinterpret_cast<const char*>(sent.get());
  size_t touched = 0;
  for (size_t page = 0; page < sizeof *sent / 4096; ++page) {
    const char* at = bytes + page * 4096;
    touched += std::any_of(at, at + 4096, [](char byte) { return byte != 0; }) ? 1 : 0;
  }
  EXPECT_LE(touched, 4U);
}

}  // namespace
}  // namespace plateau::trace
