// SPDX-License-Identifier: Apache-2.0
#include "base/pid.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

TEST(ParsePid, TakesNothingThatWouldBecomeAnotherProcess) {
  EXPECT_EQ(parse_pid("1"), 1);
  EXPECT_EQ(parse_pid("999999999"), 999999999)
      << "fits, and is told as a process that there is not";
  // 2^32 + 1 is process 1 in a pid_t.
  for (const char* text : {"", "0", "-1", "+1", " 1", "1 ", "1e3", "0x10", "2147483648",
                           "4294967297", "18446744073709551617"}) {
    EXPECT_EQ(parse_pid(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace plateau
