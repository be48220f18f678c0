// SPDX-License-Identifier: Apache-2.0
// What a census does to its target: nothing that the target can tell.
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "census/census.h"
#include "census/python_target.h"
#include "ptrace/stopped_process.h"

namespace plateau {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr CensusOptions kPatient = {.max_stop_s = 60};

class Target : public ::testing::Test {
 protected:
  void SetUp() override {
    if (python_for_test(0).empty()) GTEST_SKIP() << "no /usr/bin/python3";
  }
};

// A child that runs `work` and lives until it is killed; done() when the work is.
class Helper {
 public:
  template <typename Work>
  explicit Helper(Work work) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      const std::string text = work();
      if (::write(ends[1], text.data(), text.size()) < 0) ::_exit(1);
      ::close(ends[1]);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char part[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;) {
      said_.append(part, static_cast<size_t>(got));
    }
    ::close(ends[0]);
  }
  ~Helper() { end(); }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  // The end of the pipe is only seen when the child has closed it: its work is done by then.
  [[nodiscard]] const std::string& said() const { return said_; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  std::string said_;
};

TEST_F(Target, GoesOnWhenItsTracerIsKilled) {
  PythonTarget target(python_for_test(0), /*busy=*/true);
  ASSERT_TRUE(target.started());
  // given: a process that holds the target stopped
  Helper tracer([&] {
    static auto stopped = StoppedProcess::stop(target.pid(), 60);
    return std::string(stopped.ok() ? "stopped" : stopped.error().message);
  });
  ASSERT_EQ(tracer.said(), "stopped");
  ASSERT_EQ(target.state(), 't');

  // when
  tracer.end();

  // then
  EXPECT_TRUE(target.answers());
}

TEST_F(Target, BlockedCallDoesNotSeeTheStop) {
  PythonTarget target(python_for_test(0));
  ASSERT_TRUE(target.started());
  for (const std::string call : {"epoll", "recv"}) {
    ASSERT_EQ(target.ask(call), "waiting");
    for (int round = 0; round < 10; ++round) {
      // The wait has begun when the thread sleeps.
      while (target.state() != 'S') ::usleep(1000);
      ASSERT_TRUE(take_census(target.pid(), kPatient).ok());
    }
    EXPECT_EQ(target.ask("go on"), call + " 1 0");
  }
}

TEST_F(Target, SignalsArriveOnceEach) {
  PythonTarget target(python_for_test(0), /*busy=*/true);
  ASSERT_TRUE(target.started());
  for (int round = 1; round <= 10; ++round) {
    ::kill(target.pid(), SIGUSR1);
    ASSERT_TRUE(take_census(target.pid(), kPatient).ok());
    // Python runs its handlers between two instructions of its main thread, which may come later
    // than the answer to one question.
    std::string count = target.ask("signals");
    for (int i = 0; i < 1000 && count != std::to_string(round); ++i) count = target.ask("signals");
    ASSERT_EQ(count, std::to_string(round));
  }
}

TEST_F(Target, StoppedByJobControlStaysStopped) {
  PythonTarget target(python_for_test(0));
  ASSERT_TRUE(target.started());
  ::kill(target.pid(), SIGSTOP);
  while (target.state() != 'T') ::usleep(1000);

  const Result<Census> census = take_census(target.pid(), kPatient);

  EXPECT_TRUE(census.ok()) << census.error().message;
  for (int i = 0; i < 1000 && target.state() != 'T'; ++i) ::usleep(1000);
  EXPECT_EQ(target.state(), 'T');
  ::kill(target.pid(), SIGCONT);
  EXPECT_TRUE(target.answers());
}

TEST_F(Target, TooLittleTimeIsRefusedWithTheTimeItTakes) {
  PythonTarget target(python_for_test(0), /*busy=*/false, /*count=*/20000);
  ASSERT_TRUE(target.started());

  const Result<Census> census = take_census(target.pid(), {.max_stop_s = 1e-4});

  ASSERT_FALSE(census.ok());
  EXPECT_THAT(census.error().message, HasSubstr("--max-stop"));
  EXPECT_TRUE(target.answers());
  EXPECT_TRUE(take_census(target.pid(), kPatient).ok());
}

TEST_F(Target, TracedByAnotherIsRefused) {
  PythonTarget target(python_for_test(0));
  ASSERT_TRUE(target.started());
  Helper tracer([&] {
    static auto stopped = StoppedProcess::stop(target.pid(), 60);
    return std::string("tracing");
  });

  const Result<Census> census = take_census(target.pid(), kPatient);

  ASSERT_FALSE(census.ok());
  EXPECT_THAT(census.error().message, HasSubstr("is traced by"));
  tracer.end();
  EXPECT_TRUE(target.answers());
}

TEST_F(Target, OfAnotherUserIsRefusedWithTheRemedy) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  PythonTarget target(python_for_test(0));
  ASSERT_TRUE(target.started());
  Helper stranger([&] {
    if (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0) {
      return std::string("still root");
    }
    const Result<Census> census = take_census(target.pid(), kPatient);
    return census.ok() ? std::string("counted") : census.error().message;
  });
  EXPECT_THAT(stranger.said(), AllOf(HasSubstr("another user"), HasSubstr("CAP_SYS_PTRACE")));
  EXPECT_TRUE(target.answers());
}

TEST(CensusRefusal, ProgramWithoutPython) {
  PythonTarget target(std::vector<std::string>{"cat"});
  while (target.state() != 'S') ::usleep(1000);
  const Result<Census> census = take_census(target.pid(), kPatient);
  ASSERT_FALSE(census.ok());
  EXPECT_THAT(census.error().message, HasSubstr("no CPython"));
}

TEST(CensusRefusal, NoSuchProcessAndOurselves) {
  EXPECT_THAT(take_census(0).error().message, HasSubstr("no such process"));
  EXPECT_THAT(take_census(-5).error().message, HasSubstr("no such process"));
  EXPECT_THAT(take_census(0x3ffffff0).error().message, HasSubstr("no such process"));
  EXPECT_THAT(take_census(::getpid()).error().message, HasSubstr("this very program"));
}

TEST(CensusRefusal, PythonTooOld) {
  const std::string python = python_for_test(7);
  if (python.empty()) GTEST_SKIP() << "python 3.7 is not installed";
  PythonTarget target(python);
  ASSERT_TRUE(target.started());
  EXPECT_THAT(take_census(target.pid(), kPatient).error().message, HasSubstr("CPython 3.7"));
  EXPECT_TRUE(target.answers());
}

TEST(CensusRefusal, EndedProcess) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  siginfo_t info = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(take_census(pid).error().message, HasSubstr("has ended"));
  ::waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace plateau
