// SPDX-License-Identifier: Apache-2.0
#include "heap/mapping_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plateau {
namespace {

MappedPiece piece(uint64_t end, uint64_t stamp, uint32_t site, uint64_t whole) {
  MappedPiece made;
  made.end = end;
  made.stamp = stamp;
  made.site = site;
  made.whole_bytes = whole;
  return made;
}

class Mappings : public testing::Test {
 protected:
  void map(uint64_t begin, uint64_t end, uint64_t stamp, uint32_t site) {
    EXPECT_TRUE(table.add(begin, piece(end, stamp, site, end - begin), gone));
  }
  void unmap(uint64_t begin, uint64_t end, uint64_t stamp) {
    table.remove(begin, end, stamp, gone);
  }
  uint64_t alive(uint32_t site) {
    uint64_t sum = 0;
    table.each([&](const MappedPiece& each, uint64_t bytes) {
      if (each.site == site) sum += bytes;
    });
    return sum;
  }

  MappingTable table;
  std::map<uint32_t, uint64_t> ended;
  MappingTable::Gone gone = [this](const MappedPiece& each, uint64_t bytes) {
    ended[each.site] += bytes;
  };
};

TEST_F(Mappings, PartOfOneGoes) {
  map(1000, 2000, 1, 1);
  unmap(1200, 1500, 2);
  EXPECT_EQ(alive(1), 700U);
  EXPECT_EQ(ended[1], 300U);
  unmap(0, 5000, 3);
  EXPECT_EQ(alive(1), 0U);
  EXPECT_EQ(ended[1], 1000U);
}

TEST_F(Mappings, SeveralGoAtOnce) {
  map(1000, 2000, 1, 1);
  map(2000, 3000, 2, 2);
  map(4000, 5000, 3, 3);
  unmap(1500, 4100, 4);
  EXPECT_EQ(alive(1), 500U);
  EXPECT_EQ(alive(2), 0U);
  EXPECT_EQ(alive(3), 900U);
}

TEST_F(Mappings, NewerOneTakesThePlaceOfWhatItCovers) {
  map(1000, 2000, 1, 1);
  map(1500, 2500, 2, 2);
  EXPECT_EQ(alive(1), 500U);
  EXPECT_EQ(alive(2), 1000U);
}

TEST_F(Mappings, LateUnmapDoesNotTouchTheNewMapping) {
  map(1000, 2000, 10, 1);
  unmap(1000, 2000, 5);
  EXPECT_EQ(alive(1), 1000U);
}

TEST_F(Mappings, LateMappingIsCutByTheUnmapThatCameFirst) {
  unmap(1000, 1600, 10);
  table.end_round();
  map(1000, 2000, 5, 1);
  EXPECT_EQ(alive(1), 400U);
  EXPECT_EQ(ended[1], 600U);
}

TEST_F(Mappings, LateMappingDoesNotCoverANewerOne) {
  map(1200, 1400, 10, 2);
  map(1000, 2000, 5, 1);
  EXPECT_EQ(alive(1), 800U);
  EXPECT_EQ(alive(2), 200U);
}

}  // namespace
}  // namespace plateau
