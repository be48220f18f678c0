// SPDX-License-Identifier: Apache-2.0
// Following references ends on any memory, and asks for no more room than there is to read.
#include "census/holder_graph.h"

#include <gtest/gtest.h>

#include <random>

#include "census/announce.h"
#include "census/find_holders.h"
#include "census/invented_memory.h"
#include "census/roots.h"

namespace plateau {
namespace {

bool never() {
  return false;
}

constexpr uint64_t kList = uint64_t{1} << 25;
constexpr uint64_t kTuple = uint64_t{1} << 26;
constexpr uint64_t kDict = uint64_t{1} << 29;
constexpr uint64_t kException = uint64_t{1} << 30;
constexpr uint64_t kHasGc = uint64_t{1} << 14;

// As a census does it, without a process.
HolderFindings look(InventedHeap& heap) {
  Announcer announcer(heap.memory, heap.place.layout);
  const HeapWalk walk = walk_heap(heap.memory, heap.place, never, &announcer);
  const Roots roots = find_roots(heap.memory, heap.place, announcer);
  const std::vector<uint64_t> tensors = announcer.tensors([](uint64_t) { return true; });
  return find_holders({heap.memory, heap.place.layout, walk, roots, tensors}, nullptr, never);
}

class HolderGraphOfVersion : public ::testing::TestWithParam<int> {};

TEST_P(HolderGraphOfVersion, ObjectsThatNothingLeadsToAreUnseen) {
  InventedHeap heap(GetParam(), 30);
  const HolderFindings found = look(heap);
  EXPECT_EQ(found.objects_reached, 0U);
  ASSERT_TRUE(found.index.unseen.contains("thing"));
  EXPECT_EQ(found.index.unseen.at("thing"), 30U);
}

TEST_P(HolderGraphOfVersion, EndsOnAnyDamage) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    InventedHeap heap(GetParam(), 50);
    const uint64_t kinds[] = {kList, kTuple, kDict, kException, 0};
    heap.put(heap.type, heap.place.layout.type_flags, kHasGc | kinds[round % 5]);
    for (int i = 0; i < 40; ++i) {
      const uint64_t node = heap.nodes[random() % heap.nodes.size()];
      const uint64_t object = node + 16;
      const uint64_t value = i % 3 == 0 ? random() : heap.nodes[random() % 50] + random() % 4 * 8;
      // Past the links and the type: sizes, items, tables.
      heap.memory.put(object + 16 + random() % 4 * 8, i % 5 == 0 ? random() % 100 : value);
    }
    const HolderFindings found = look(heap);
    EXPECT_LE(found.objects_reached, 60U);
    EXPECT_LT(heap.memory.reads, 500'000U);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, HolderGraphOfVersion,
                         ::testing::Values(8, 9, 10, 11, 12, 13, 14));

}  // namespace
}  // namespace plateau
