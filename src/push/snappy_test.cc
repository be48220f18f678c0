// SPDX-License-Identifier: Apache-2.0
#include "push/snappy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "push/unsnappy_for_test.h"

namespace plateau::push {
namespace {

TEST(Snappy, WorkedBytesOfTheHeaderHold) {
  EXPECT_EQ(snappy_block("aaaaaaaaaa"), std::string("\x0a\x00\x61\x22\x01\x00", 6));
  EXPECT_EQ(snappy_block(""), std::string("\0", 1));
}

TEST(Snappy, LiteralsOfEveryLengthComeBack) {
  for (const size_t size : {1, 3, 4, 59, 60, 61, 255, 256, 257, 65535, 65536, 65537, 70000}) {
    std::string plain;
    uint32_t state = 1;
    for (size_t i = 0; i < size; ++i) {
      state = state * 1664525 + 1013904223;
      plain += static_cast<char>(state >> 24);
    }
    EXPECT_EQ(unsnappy(snappy_block(plain)), plain) << size;
  }
}

TEST(Snappy, WhatRepeatsFartherThanACopyReachesComesBack) {
  std::string plain(200000, 'x');
  for (size_t i = 0; i < plain.size(); i += 70001) plain.replace(i, 9, "a far one");
  const std::string block = snappy_block(plain);
  EXPECT_EQ(unsnappy(block), plain);
  EXPECT_LT(block.size(), plain.size() / 15);
}

RC_GTEST_PROP(Snappy, AnyBytesComeBack, (const std::vector<uint8_t>& letters, uint8_t repeats)) {
  std::string plain;
  for (int i = 0; i <= repeats % 9; ++i) plain.append(letters.begin(), letters.end());
  RC_ASSERT(unsnappy(snappy_block(plain)) == plain);
}

}  // namespace
}  // namespace plateau::push
