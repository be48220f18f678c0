// SPDX-License-Identifier: Apache-2.0
#include "heap/live_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace plateau {
namespace {

LiveBlock block(uint64_t address, uint64_t stamp, uint64_t bytes = 16) {
  LiveBlock made;
  made.address = address;
  made.stamp = stamp;
  made.bytes_and_note = LiveBlock::pack(bytes, 0);
  made.site = 1;
  return made;
}

std::map<uint64_t, uint64_t> stamps_of(LiveBlocks& live) {
  std::map<uint64_t, uint64_t> stamps;
  live.each([&](const LiveBlock& each) { stamps[each.address] = each.stamp; });
  return stamps;
}

TEST(LiveBlocks, NewestStampDecidesWhateverTheOrder) {
  LiveBlocks live;
  LiveBlock other;
  live.begin_round(false);
  // The example of the header: alloc 10, free 20, alloc 30, free 40, read out of order.
  live.put(block(64, 10), other);
  EXPECT_TRUE(live.take(64, 40, other));
  EXPECT_FALSE(live.take(64, 20, other));
  EXPECT_EQ(live.put(block(64, 30), other), LiveBlocks::Put::late);
  EXPECT_EQ(live.size(), 0U);
}

TEST(LiveBlocks, LostFreeIsHealedByTheNextBlockAtItsAddress) {
  LiveBlocks live;
  LiveBlock before;
  live.begin_round(true);
  live.put(block(64, 10, 100), before);
  EXPECT_EQ(live.put(block(64, 30, 200), before), LiveBlocks::Put::replaced);
  EXPECT_EQ(before.bytes(), 100U);
  EXPECT_FALSE(live.take(64, 20, before)) << "a free older than the block is late";
  EXPECT_EQ(live.size(), 1U);
}

TEST(LiveBlocks, GravesAreGoneAfterTheNextRound) {
  LiveBlocks live;
  LiveBlock other;
  live.begin_round(false);
  for (uint64_t i = 1; i <= 100; ++i) live.take(i * 16, 5, other);
  live.end_round();
  EXPECT_EQ(live.graves(), 100U);
  live.begin_round(false);
  live.end_round();
  EXPECT_EQ(live.graves(), 0U);
  EXPECT_EQ(live.size(), 0U);
}

TEST(LiveBlocks, GivesMemoryBackAfterMostBlocksAreFreed) {
  LiveBlocks live;
  LiveBlock other;
  live.begin_round(true);
  for (uint64_t i = 1; i <= 300000; ++i) live.put(block(i * 16, i), other);
  const size_t full = live.memory_bytes();
  for (uint64_t i = 1; i <= 300000; ++i) live.take(i * 16, 1000000 + i, other);
  for (int round = 0; round < 10; ++round) live.end_round();
  EXPECT_EQ(live.size(), 0U);
  EXPECT_LT(live.memory_bytes(), full / 50);
}

struct Event {
  uint64_t address = 0;
  uint64_t stamp = 0;
  bool is_free = false;
  size_t lane = 0;
};

// What a program does, in the order in which it is published.
std::vector<Event> random_program(std::mt19937& random, size_t count) {
  std::vector<Event> events;
  std::set<uint64_t> alive;
  uint64_t stamp = 100;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t address = (random() % 40 + 1) * 16;
    const bool is_free = alive.contains(address);
    if (is_free) alive.erase(address);
    if (!is_free) alive.insert(address);
    stamp += 1 + random() % 3;
    events.push_back({address, stamp, is_free, random() % 4});
  }
  return events;
}

// Reads the events in rounds. In each, lane after lane is cut off at a moment a little later than
// the one before, as when a program writes while the lanes are looked at.
void read_in_rounds(const std::vector<Event>& events, std::mt19937& random, LiveBlocks& live) {
  std::array<size_t, 4> read{};
  size_t moment = 0;
  LiveBlock other;
  while (moment < events.size()) {
    live.begin_round(false);
    for (size_t lane = 0; lane < 4; ++lane) {
      moment = std::min(events.size(), moment + random() % 6);
      for (size_t& at = read[lane]; at < moment; ++at) {
        if (events[at].lane != lane) continue;
        if (events[at].is_free) live.take(events[at].address, events[at].stamp, other);
        if (!events[at].is_free) live.put(block(events[at].address, events[at].stamp), other);
      }
    }
    live.end_round();
  }
  live.begin_round(false);
  for (size_t lane = 0; lane < 4; ++lane) {
    for (size_t at = read[lane]; at < events.size(); ++at) {
      if (events[at].lane != lane) continue;
      if (events[at].is_free) live.take(events[at].address, events[at].stamp, other);
      if (!events[at].is_free) live.put(block(events[at].address, events[at].stamp), other);
    }
  }
  live.end_round();
}

TEST(LiveBlocks, AnyOrderOfLanesGivesTheLiveSetOfTheProgram) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    // Given a program that uses few addresses over and over, on four lanes
    const std::vector<Event> events = random_program(random, 400);
    std::map<uint64_t, uint64_t> truth;
    for (const Event& event : events) {
      if (event.is_free) truth.erase(event.address);
      if (!event.is_free) truth[event.address] = event.stamp;
    }
    // When they are read lane by lane
    LiveBlocks live;
    read_in_rounds(events, random, live);
    // Then the same blocks are alive
    EXPECT_EQ(stamps_of(live), truth) << "seed " << seed;
  }
}

TEST(LiveBlocks, DropsLeaveOnlyAddressesThatWereNotUsedAgain) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Event> events = random_program(random, 400);
    // Given that a tenth of all events is lost, but none of the last one of each address
    std::map<uint64_t, size_t> last;
    for (size_t i = 0; i < events.size(); ++i) last[events[i].address] = i;
    std::vector<Event> kept;
    std::map<uint64_t, uint64_t> truth;
    for (size_t i = 0; i < events.size(); ++i) {
      const bool stays = last[events[i].address] == i || random() % 10 != 0;
      if (stays) kept.push_back(events[i]);
      if (last[events[i].address] == i && !events[i].is_free) {
        truth[events[i].address] = events[i].stamp;
      }
    }
    // When the rest is read, then what is alive is what it was
    LiveBlocks live;
    read_in_rounds(kept, random, live);
    EXPECT_EQ(stamps_of(live), truth) << "seed " << seed;
  }
}

}  // namespace
}  // namespace plateau
