// SPDX-License-Identifier: Apache-2.0
#include "inject/own_filter.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace plateau {
namespace {

TEST(OwnFilter, IsSeenInAChildThatPutsOneOnAndNotInItsParent) {
  int ready[2] = {-1, -1};
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    sock_filter program[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog filter{1, program};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const bool on = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
    const char said = on ? 'y' : 'n';
    [[maybe_unused]] const ssize_t n = write(ready[1], &said, 1);
    pause();
  }
  char said = 0;
  ASSERT_EQ(read(ready[0], &said, 1), 1);
  EXPECT_FALSE(has_filter_of_its_own(getpid()));
  EXPECT_EQ(has_filter_of_its_own(child), said == 'y');
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace plateau
