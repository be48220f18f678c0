// SPDX-License-Identifier: Apache-2.0
#include "inject/sleep_calls.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>

namespace plateau {
namespace {

TEST(BlockedCall, ReadsNumberArgumentsAndPlace) {
  const auto call =
      parse_blocked_call("202 0x7f01 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd8f0d0c10 0x7f3d0e2a1e93\n");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->number, 202);
  EXPECT_EQ(call->arguments[1], 0x189U);
  EXPECT_EQ(call->program, 0x7f3d0e2a1e93U);
}

TEST(BlockedCall, RunningThreadsAndOtherTextAreNone) {
  EXPECT_FALSE(parse_blocked_call("running\n"));
  EXPECT_FALSE(parse_blocked_call("-1 0x7ffd8f0d0c10 0x7f3d0e2a1e93\n"));
  EXPECT_FALSE(parse_blocked_call("7 0x1 0x2"));
  EXPECT_FALSE(parse_blocked_call("7 0x1 0x2 zz 0x0 0x0 0x0 0x1 0x2"));
  EXPECT_FALSE(parse_blocked_call(""));
}

TEST(SafeSleep, MemoryCallsAreNotSafe) {
  for (const int64_t number : {SYS_mmap, SYS_munmap, SYS_brk, SYS_madvise, SYS_mremap, SYS_write}) {
    EXPECT_FALSE(safe_sleep(number, 0)) << number;
  }
}

TEST(SafeSleep, OnlyTheFutexOfConditionVariablesIsSafe) {
  EXPECT_EQ(safe_sleep(SYS_futex, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG), "futex");
  EXPECT_FALSE(safe_sleep(SYS_futex, FUTEX_WAIT | FUTEX_PRIVATE_FLAG));
  EXPECT_FALSE(safe_sleep(SYS_futex, FUTEX_LOCK_PI));
}

}  // namespace
}  // namespace plateau
