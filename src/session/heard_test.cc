// SPDX-License-Identifier: Apache-2.0
#include "session/heard.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

TEST(Heard, TheFirstOfEachKindIsDueAtOnce) {
  Heard heard;
  heard.hear("MemoryError: a", 1);
  heard.hear("CUDA out of memory", 1);
  EXPECT_EQ(heard.take(1, false), "CUDA out of memory");
  EXPECT_EQ(heard.take(1, false), "MemoryError: a");
  EXPECT_FALSE(heard.take(1, false));
}

TEST(Heard, AMillionOfThemAreAFewEventsAndTheLastIsAmongThem) {
  Heard heard;
  size_t events = 0;
  std::string latest;
  for (int i = 0; i < 1'000'000; ++i) {
    const double at_s = i * 0.01;
    heard.hear("MemoryError: " + std::to_string(i), at_s);
    while (const auto text = heard.take(at_s, false)) ++events;
  }
  while (const auto text = heard.take(9999.99, true)) latest = *text;
  EXPECT_LT(events, 20U);
  EXPECT_EQ(latest, "MemoryError: 999999");
}

TEST(Heard, WhatWasSaidLongBeforeTheEndIsNotMovedToIt) {
  Heard heard;
  for (double at_s = 0; at_s < 100; at_s += 0.5) {
    heard.hear("MemoryError", at_s);
    while (heard.take(at_s, false)) {
    }
  }
  EXPECT_FALSE(heard.take(5000, true) && heard.take(5000, true));
  Heard other;
  other.hear("MemoryError: first", 1);
  EXPECT_TRUE(other.take(1, false));
  other.hear("MemoryError: second", 1.5);
  EXPECT_FALSE(other.take(1.6, false));
  EXPECT_EQ(other.take(1.7, true), "MemoryError: second");
}

TEST(Heard, OtherLinesAreNotKept) {
  Heard heard;
  heard.hear("Step 4: all is well", 1);
  EXPECT_FALSE(heard.take(1, true));
}

}  // namespace
}  // namespace plateau
