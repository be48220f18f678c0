// SPDX-License-Identifier: Apache-2.0
#include "probe/job_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace plateau {
namespace {

TEST(JobLimits, ALimitOnAddressSpaceIsItsSoftOne) {
  EXPECT_EQ(address_limit_of("Limit                     Soft Limit           Hard Limit   Units\n"
                             "Max address space         8589934592           unlimited    bytes\n"),
            8388608);
}

TEST(JobLimits, NoLimitIsNone) {
  EXPECT_FALSE(
      address_limit_of("Max address space         unlimited            unlimited  bytes\n"));
  EXPECT_FALSE(address_limit_of("Max address space"));
  EXPECT_FALSE(address_limit_of(""));
}

TEST(JobLimits, OfThisProcessAreRead) {
  Snapshot snapshot;
  ProcessSample self;
  self.key.pid = getpid();
  snapshot.processes.push_back(self);
  read_job_limits("/proc", snapshot);
  if (access("/dev/shm", F_OK) != 0) GTEST_SKIP() << "this machine has no /dev/shm";
  EXPECT_GT(snapshot.shm_size_kb, 0);
  EXPECT_GE(snapshot.shm_used_kb, 0);
}

TEST(JobLimits, AJobThatIsGoneHasNone) {
  Snapshot snapshot;
  read_job_limits("/proc", snapshot);
  EXPECT_EQ(snapshot.shm_size_kb, kUnread);
}

}  // namespace
}  // namespace plateau
