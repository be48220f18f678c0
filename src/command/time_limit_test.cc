// SPDX-License-Identifier: Apache-2.0
#include "command/time_limit.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

constexpr double kNoon = 1762603200;  // 2025-11-08T12:00:00Z

TEST(TimeLimit, ReadsDurationsClocksAndDates) {
  EXPECT_EQ(parse_time_limit("90")->seconds, 90);
  EXPECT_EQ(parse_time_limit("10m")->seconds, 600);
  EXPECT_EQ(parse_time_limit("1h30m")->seconds, 5400);
  EXPECT_EQ(parse_time_limit("1.5h")->seconds, 5400);
  EXPECT_EQ(parse_time_limit("13:18:25")->kind, TimeLimit::Kind::clock);
  EXPECT_EQ(parse_time_limit("13:18:25")->seconds, 13 * 3600 + 18 * 60 + 25);
  EXPECT_EQ(parse_time_limit("2025-11-08T12:00:00")->seconds, kNoon);
  EXPECT_EQ(parse_time_limit("2025-11-08 12:00Z")->seconds, kNoon);
  EXPECT_EQ(parse_time_limit("2025-11-08T14:00:00+02:00")->seconds, kNoon);
  EXPECT_EQ(parse_time_limit("2024-02-29")->seconds, 1709164800);
}

TEST(TimeLimit, RefusesWhatIsNoTime) {
  for (const char* text : {"", "soon", "10x", "25:00", "12:60", "2025-13-01", "2025-11-08T", "m",
                           "1h30", "-5", "12:00+02:00", "2025-11-08T12:00 PM"}) {
    EXPECT_FALSE(parse_time_limit(text)) << text;
  }
}

}  // namespace
}  // namespace plateau
