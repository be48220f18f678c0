// SPDX-License-Identifier: Apache-2.0
#include "cli/helper_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <csignal>

namespace plateau {
namespace {

void wait_for_stop(int stop_fd) {
  pollfd stop = {stop_fd, POLLIN, 0};
  poll(&stop, 1, -1);
}

bool exists(pid_t pid) {
  return kill(pid, 0) == 0;
}

TEST(HelperProcess, SaysWhatItBeganWithAndStopsWhenAsked) {
  Result<HelperProcess> helper =
      HelperProcess::start("helper", [](int stop_fd, const HelperProcess::Report& report) {
        report(std::string("http://here/"));
        wait_for_stop(stop_fd);
      });
  ASSERT_TRUE(helper) << helper.error().message;
  EXPECT_EQ(helper.value().said(), "http://here/");
  const pid_t pid = helper.value().pid();
  EXPECT_TRUE(exists(pid));
  helper.value().stop(60);
  EXPECT_FALSE(exists(pid));
}

TEST(HelperProcess, ReasonForNotBeginningComesBack) {
  const Result<HelperProcess> helper =
      HelperProcess::start("helper", [](int /*stop_fd*/, const HelperProcess::Report& report) {
        report(Error{Error::Kind::usage, "no room"});
      });
  ASSERT_FALSE(helper);
  EXPECT_EQ(helper.error().message, "no room");
}

TEST(HelperProcess, DeathBeforeItBeganIsAnError) {
  const Result<HelperProcess> helper = HelperProcess::start(
      "helper", [](int /*stop_fd*/, const HelperProcess::Report& /*report*/) { _exit(1); });
  EXPECT_FALSE(helper);
}

TEST(HelperProcess, OneThatDoesNotListenIsKilled) {
  Result<HelperProcess> helper =
      HelperProcess::start("helper", [](int /*stop_fd*/, const HelperProcess::Report& report) {
        report(std::string(""));
        while (true) pause();
      });
  ASSERT_TRUE(helper);
  const pid_t pid = helper.value().pid();
  helper.value().stop(0.05);
  EXPECT_FALSE(exists(pid));
}

TEST(HelperProcess, OneThatWasKilledAndReapedIsNoTrouble) {
  Result<HelperProcess> helper =
      HelperProcess::start("helper", [](int stop_fd, const HelperProcess::Report& report) {
        report(std::string(""));
        wait_for_stop(stop_fd);
      });
  ASSERT_TRUE(helper);
  kill(helper.value().pid(), SIGKILL);
  waitpid(helper.value().pid(), nullptr, 0);
  helper.value().stop(60);
}

TEST(HelperProcess, HoldsNothingThatItsOwnerHasOpen) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  const Result<HelperProcess> helper =
      HelperProcess::start("helper", [](int stop_fd, const HelperProcess::Report& report) {
        report(std::string(""));
        wait_for_stop(stop_fd);
      });
  ASSERT_TRUE(helper);
  write_end.reset();
  pollfd closed = {read_end.get(), POLLIN, 0};
  EXPECT_EQ(poll(&closed, 1, 20000), 1) << "the helper keeps the pipe open";
}

}  // namespace
}  // namespace plateau
