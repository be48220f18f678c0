// SPDX-License-Identifier: Apache-2.0
#include "base/poll_all.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>

#include "base/fd.h"

namespace plateau {
namespace {

TEST(PollAll, SeesWhatIsReadyAlsoWhenFewerDescriptorsAreAllowedThanAreAsked) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const Fd out(ends[0]);
  const Fd in(ends[1]);
  ASSERT_EQ(write(in.get(), "x", 1), 1);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  for (const rlim_t allowed : {rlim_t{1}, rlim_t{0}}) {
    const rlimit few{allowed, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    std::array<pollfd, 3> polled{{{-1, POLLIN, 0}, {-1, POLLIN, 0}, {out.get(), POLLIN, 0}}};
    EXPECT_EQ(poll(polled.data(), polled.size(), 0), -1);
    EXPECT_EQ(poll_all(polled, 10), 1) << allowed;
    EXPECT_EQ(polled[2].revents, POLLIN) << allowed;
    EXPECT_EQ(polled[0].revents, 0) << allowed;
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace plateau
