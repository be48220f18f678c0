// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gtest/gtest.h>

#include <cmath>

namespace plateau {
namespace {

TEST(Units, DecimalUnitsArePowersOfThousand) {
  EXPECT_DOUBLE_EQ(*parse_memory_mb("20GB"), 20000);
  EXPECT_DOUBLE_EQ(*parse_memory_mb("7,159 MB"), 7159);
  EXPECT_DOUBLE_EQ(*parse_memory_mb("512 kB"), 0.512);
}

TEST(Units, BinaryUnitsArePowersOf1024) {
  EXPECT_NEAR(*parse_memory_mb("5.4GiB"), 5798.2, 0.1);
  EXPECT_NEAR(*parse_memory_mb("1M"), 1.048576, 1e-9);
}

TEST(Units, BareNumberTakesTheUnitTheCallerKnows) {
  EXPECT_DOUBLE_EQ(*parse_memory_mb("17412"), 17412);
  EXPECT_DOUBLE_EQ(*parse_memory_mb("2048", 1e-6), 2048e-6);
}

TEST(Units, WhatIsNotAnAmountIsRefused) {
  for (const char* text :
       {"", "GB", "-3 MB", "nan", "1e400 MB", "12 parsecs", "1.2.3 MB", "5 MB x"}) {
    EXPECT_FALSE(parse_memory_mb(text)) << text;
  }
}

TEST(Units, AmountsAreShownWithAtMostThreeDigits) {
  EXPECT_EQ(format_mb(17694), "17.7 GB");
  EXPECT_EQ(format_mb(532.4), "532 MB");
  EXPECT_EQ(format_mb(999.7), "1.00 GB");
  EXPECT_EQ(format_mb(0.05), "50.0 kB");
  EXPECT_EQ(format_mb_signed(-3.21), "-3.21 MB");
  EXPECT_EQ(format_count(1234567), "1,234,567");
}

TEST(Counted, OneHasNoPlural) {
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(6529, "row"), "6,529 rows");
}

TEST(Utc, AMomentIsADateAndABrokenOneIsNone) {
  EXPECT_EQ(format_utc(0), "1970-01-01 00:00 UTC");
  EXPECT_EQ(format_utc(1794906359.9), "2026-11-17 09:05 UTC");
  EXPECT_EQ(format_utc(-1), "1969-12-31 23:59 UTC");
  EXPECT_EQ(format_utc(1e300), "no date");
  EXPECT_EQ(format_utc(std::nan("")), "no date");
}

}  // namespace
}  // namespace plateau
