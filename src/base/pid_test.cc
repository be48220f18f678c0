// SPDX-License-Identifier: Apache-2.0
#include "base/pid.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

TEST(ParsePid, TakesNothingThatWouldBecomeAnotherProcess) {
  EXPECT_EQ(parse_pid("1"), 1);
  EXPECT_EQ(parse_pid("4194304"), 4194304);
  // 2^32 + 1 is process 1 in a pid_t.
  for (const char* text : {"", "0", "-1", "+1", " 1", "1 ", "1e3", "0x10", "4194305", "4294967297",
                           "18446744073709551617"}) {
    EXPECT_EQ(parse_pid(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace plateau
