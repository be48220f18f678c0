// SPDX-License-Identifier: Apache-2.0
#include "census/heap_walk.h"

#include <gtest/gtest.h>

#include <random>

#include "census/invented_memory.h"

namespace plateau {
namespace {

bool never() {
  return false;
}

HeapWalk walk(InventedHeap& heap) {
  HeapWalk found = walk_heap(heap.memory, heap.place, never);
  measure_heap(heap.memory, heap.place, found);
  return found;
}

class HeapWalkOfVersion : public ::testing::TestWithParam<int> {};

TEST_P(HeapWalkOfVersion, IntactRingIsCountedByType) {
  InventedHeap heap(GetParam(), 100);

  const HeapWalk found = walk(heap);

  EXPECT_EQ(found.end, WalkEnd::complete);
  EXPECT_EQ(found.objects, 100U);
  ASSERT_EQ(found.types.size(), 1U);
  EXPECT_EQ(found.types[0].facts.name, "thing");
  EXPECT_EQ(found.types[0].objects, 100U);
  EXPECT_EQ(found.types[0].bytes, 100U * (32 + 16));
}

TEST_P(HeapWalkOfVersion, CollectingIsToldBeforeAnythingIsCounted) {
  InventedHeap heap(GetParam(), 100);
  heap.put(heap.gc, heap.place.layout.gc_collecting, int32_t{1});

  const HeapWalk found = walk(heap);

  EXPECT_EQ(found.end, WalkEnd::collecting);
  EXPECT_EQ(found.objects, 0U);
}

INSTANTIATE_TEST_SUITE_P(Versions, HeapWalkOfVersion, ::testing::Values(8, 9, 10, 11, 12, 13, 14));

TEST(HeapWalk, NoInterpreterIsSaid) {
  InventedHeap heap(12, 3);
  heap.put(heap.place.runtime, heap.place.layout.runtime_interpreters_head, uint64_t{0});
  EXPECT_EQ(walk(heap).end, WalkEnd::no_interpreter);
}

TEST(HeapWalk, SecondInterpreterIsCountedToo) {
  InventedHeap heap(11, 5);
  // The second interpreter is a copy of an empty one beside the first.
  const uint64_t second = heap.memory.take(16 << 10);
  const PythonLayout& layout = heap.place.layout;
  const uint64_t gc = second + InventedHeap::offset(layout.gc);
  const auto ring = [&](uint64_t head) {
    heap.put(head, layout.gc_head_next, head);
    heap.put(head, layout.gc_head_prev, head);
  };
  for (int i = 0; i < 3; ++i) {
    ring(gc + InventedHeap::offset(layout.gc_generations + i * layout.gc_generation_bytes));
  }
  ring(gc + InventedHeap::offset(layout.gc_permanent));
  const uint64_t node = heap.memory.take(64);
  const uint64_t oldest =
      gc + InventedHeap::offset(layout.gc_generations + 2 * layout.gc_generation_bytes);
  heap.put(oldest, layout.gc_head_next, node);
  heap.put(oldest, layout.gc_head_prev, node);
  heap.put(node, layout.gc_head_next, oldest);
  heap.put(node, layout.gc_head_prev, oldest);
  heap.put(node + InventedHeap::offset(layout.gc_head_bytes), layout.object_type, heap.type);
  heap.put(heap.interpreter, layout.interpreter_next, second);

  const HeapWalk found = walk(heap);

  EXPECT_EQ(found.end, WalkEnd::complete);
  EXPECT_EQ(found.objects, 6U);
}

TEST(HeapWalk, RingOfInterpretersEnds) {
  InventedHeap heap(12, 2);
  heap.put(heap.interpreter, heap.place.layout.interpreter_next, heap.interpreter);
  EXPECT_EQ(walk(heap).end, WalkEnd::torn);
  EXPECT_EQ(last_collected_objects(heap.memory, heap.place), 0U);
}

TEST_P(HeapWalkOfVersion, CollectorsOwnCountIsRead) {
  InventedHeap heap(GetParam(), 2);
  heap.put(heap.gc, heap.place.layout.gc_long_lived_total, uint64_t{5000});
  EXPECT_EQ(last_collected_objects(heap.memory, heap.place), 5000U);
  EXPECT_EQ(walk(heap).last_collected, 5000U);
}

TEST(HeapWalk, LinkBackToAnEarlierObjectIsTorn) {
  InventedHeap heap(12, 100);
  heap.set_next(60, heap.nodes[20]);

  const HeapWalk found = walk(heap);

  EXPECT_EQ(found.end, WalkEnd::torn);
  EXPECT_EQ(found.objects, 61U);
}

TEST(HeapWalk, ObjectThatLinksToItselfIsTorn) {
  InventedHeap heap(12, 100);
  heap.set_next(60, heap.nodes[60]);
  EXPECT_EQ(walk(heap).end, WalkEnd::torn);
}

TEST(HeapWalk, LinkToNowhereIsTorn) {
  for (const uint64_t wild : {uint64_t{0}, uint64_t{8}, uint64_t{0x7fffdeadbee0}, ~uint64_t{15}}) {
    InventedHeap heap(12, 100);
    heap.set_next(60, wild);
    EXPECT_EQ(walk(heap).end, WalkEnd::torn) << wild;
  }
}

TEST(HeapWalk, ObjectBeingHungInIsTorn) {
  // The last object's link is stored, the ring's own link back to it is not yet.
  InventedHeap heap(12, 100);
  heap.put(heap.young(), heap.place.layout.gc_head_prev, heap.nodes[98]);
  EXPECT_EQ(walk(heap).end, WalkEnd::torn);
}

TEST(HeapWalk, WildTypeIsCountedAsUnreadable) {
  InventedHeap heap(12, 100);
  heap.set_type(10, 0);
  heap.set_type(20, ~uint64_t{7});
  heap.set_type(30, heap.nodes[0]);

  const HeapWalk found = walk(heap);

  EXPECT_EQ(found.end, WalkEnd::complete);
  EXPECT_EQ(found.objects, 100U);
  EXPECT_EQ(found.unreadable, 3U);
  EXPECT_EQ(found.types[0].objects, 97U);
}

TEST(HeapWalk, SizesStayUnknownWhenTheWayHasChanged) {
  InventedHeap heap(12, 100);
  HeapWalk found = walk_heap(heap.memory, heap.place, never);
  heap.set_next(60, heap.nodes[20]);

  measure_heap(heap.memory, heap.place, found);

  EXPECT_EQ(found.types[0].objects, 100U);
  EXPECT_EQ(found.types[0].bytes, 0U);
}

TEST(HeapWalk, StopsWhenItIsLate) {
  InventedHeap heap(12, 10000);
  int asked = 0;
  const HeapWalk found = walk_heap(heap.memory, heap.place, [&] { return ++asked == 2; });
  EXPECT_EQ(found.end, WalkEnd::late);
  EXPECT_LT(found.objects, 10000U);
}

TEST(HeapWalk, EndsOnAnyDamage) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 2000; ++round) {
    InventedHeap heap(8 + round % 6, 50);
    for (int i = 0; i < 1 + round % 20; ++i) {
      const uint64_t place = InventedMemory::kBase + random() % (heap.memory.used() - 8);
      // Sometimes near a node, sometimes a pointer that leads somewhere.
      const uint64_t node = heap.nodes[random() % heap.nodes.size()];
      const uint64_t at = round % 2 == 0 ? place : node + random() % 4 * 8;
      const uint64_t value =
          round % 3 == 0 ? random() : heap.nodes[random() % heap.nodes.size()] + random() % 3 * 8;
      heap.memory.put(at, value);
    }
    const HeapWalk found = walk(heap);
    EXPECT_LE(found.objects, 50U + 8);
    EXPECT_LT(heap.memory.reads, 200'000U);
  }
}

}  // namespace
}  // namespace plateau
