// SPDX-License-Identifier: Apache-2.0
// Real programs are stopped, called into and let go; each checks itself that nothing else happened.
#include "inject/inject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>

#include <cstring>

#include "inject/allocators.h"
#include "inject/testing/running_target.h"
#include "ptrace/refusal.h"

namespace plateau {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr int kManyCalls = 50;
const InjectOptions kPatient{.timeout_s = 60};

RunningTarget started(std::vector<std::string> words, const std::string& preload = "") {
  words.insert(words.begin(), PLATEAU_INJECT_TARGET);
  return RunningTarget(words, preload);
}

// Calls getpid and malloc_trim many times, each time at a new safe point.
void call_often(const RunningTarget& target) {
  const RemoteNames names(target.pid());
  const auto own_pid = names.find("/libc.so", "getpid");
  const auto trim = names.find("/libc.so", "malloc_trim");
  ASSERT_TRUE(own_pid && trim);
  for (int i = 0; i < kManyCalls; ++i) {
    auto point = SafePoint::reach(target.pid(), kPatient);
    ASSERT_TRUE(point.ok()) << point.error().message;
    const auto answer = point.value().call(*own_pid, {});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(static_cast<pid_t>(answer.value()), target.pid());
    const auto trimmed = point.value().call(*trim, {0});
    ASSERT_TRUE(trimmed.ok()) << trimmed.error().message;
  }
}

class Undisturbed : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Undisturbed, TargetNoticesNothingOfManyCalls) {
  RunningTarget target = started(GetParam());
  ASSERT_TRUE(target.ready());
  call_often(target);
  EXPECT_EQ(target.end(), 0) << target.line();
}

using Words = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(
    SafePoint, Undisturbed,
    testing::Values(Words{"sleep"}, Words{"poll"}, Words{"epoll"}, Words{"read"},
                    Words{"semaphore"}, Words{"storm", "storm", "spin-main"},
                    Words{"float", "spin-main"}, Words{"signals", "spin-main"},
                    Words{"storm", "float", "sleep", "poll", "epoll", "read", "semaphore"}),
    [](const auto& test) {
      std::string name;
      for (const std::string& word : test.param) name += word == "spin-main" ? "Busy" : word;
      return name;
    });

TEST(SafePoint, BusyPythonIsCaughtInItsAllocator) {
  RunningTarget target(
      {"/usr/bin/python3", "-c", "print('ready')\nwhile True: x = [str(i) for i in range(100)]"});
  ASSERT_TRUE(target.ready());
  call_often(target);
  EXPECT_TRUE(target.alive());
}

TEST(SafePoint, SaysWhereTheThreadStood) {
  RunningTarget sleeping = started({});
  RunningTarget busy = started({"storm", "spin-main"});
  {
    auto point = SafePoint::reach(sleeping.pid(), kPatient);
    ASSERT_TRUE(point.ok()) << point.error().message;
    EXPECT_THAT(point.value().how(), StartsWith("in "));
  }
  auto point = SafePoint::reach(busy.pid(), kPatient);
  ASSERT_TRUE(point.ok()) << point.error().message;
  EXPECT_THAT(point.value().how(), StartsWith("at "));
}

TEST(SafePoint, PassesMemoryAndManyArguments) {
  RunningTarget target = started({});
  const RemoteNames names(target.pid());
  const auto print = names.find("/libc.so", "snprintf");
  ASSERT_TRUE(print);
  auto point = SafePoint::reach(target.pid(), kPatient);
  ASSERT_TRUE(point.ok()) << point.error().message;
  const char format[] = "%ld %ld %ld %ld %ld";
  const auto text = point.value().place(format, sizeof format);
  const std::string empty(64, '\0');
  const auto room = point.value().place(empty.data(), empty.size());
  ASSERT_TRUE(text.ok() && room.ok());
  const auto written =
      point.value().call(*print, {room.value(), empty.size(), text.value(), 11, 22, 33, 44, 55});
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(written.value(), 14U);
  const auto bytes = point.value().read(room.value(), 15);
  ASSERT_TRUE(bytes.ok());
  EXPECT_STREQ(bytes.value().c_str(), "11 22 33 44 55");
}

TEST(SafePoint, AFunctionThatCrashesIsGivenUpAndTheTargetLives) {
  RunningTarget target = started({"float", "sleep"});
  const RemoteNames names(target.pid());
  const auto length = names.find("/libc.so", "atoi");
  ASSERT_TRUE(length);
  {
    auto point = SafePoint::reach(target.pid(), kPatient);
    ASSERT_TRUE(point.ok()) << point.error().message;
    const auto crashed = point.value().call(*length, {8});
    ASSERT_FALSE(crashed.ok());
    EXPECT_THAT(crashed.error().message, HasSubstr("signal 11"));
  }
  EXPECT_EQ(target.end(), 0);
}

TEST(SafePoint, AFunctionThatNeverReturnsIsGivenUp) {
  RunningTarget target = started({"float"});
  const RemoteNames names(target.pid());
  const auto pause = names.find("/libc.so", "pause");
  ASSERT_TRUE(pause);
  {
    auto point = SafePoint::reach(target.pid(), {.timeout_s = 60, .call_timeout_s = 0.2});
    ASSERT_TRUE(point.ok()) << point.error().message;
    const auto stuck = point.value().call(*pause, {});
    ASSERT_FALSE(stuck.ok());
    EXPECT_THAT(stuck.error().message, HasSubstr("did not return"));
  }
  EXPECT_EQ(target.end(), 0);
}

TEST(SafePoint, IsRefusedWhenNoneComesAndTheTargetIsAsBefore) {
  RunningTarget target = started({"spin", "spin-main"});
  const auto point = SafePoint::reach(target.pid(), {.timeout_s = 0.2});
  ASSERT_FALSE(point.ok());
  EXPECT_THAT(point.error().message, HasSubstr("no safe moment came within 0.2 s"));
  EXPECT_EQ(look_at_target(target.pid()).tracer, 0);
  EXPECT_EQ(target.end(), 0);
}

TEST(SafePoint, ProcessesThatAreGoneStoppedOrTracedAreErrors) {
  EXPECT_FALSE(SafePoint::reach(4194303).ok());
  RunningTarget target = started({});
  ::kill(target.pid(), SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(target.pid(), &status, WUNTRACED), target.pid());
  const auto stopped = SafePoint::reach(target.pid());
  ASSERT_FALSE(stopped.ok());
  EXPECT_THAT(stopped.error().message, HasSubstr("is stopped"));
}

TEST(SafePoint, TargetsThatDieMeanwhileAreErrorsNotHangs) {
  RunningTarget target = started({"sleep"});
  auto point = SafePoint::reach(target.pid(), kPatient);
  ASSERT_TRUE(point.ok()) << point.error().message;
  ::kill(target.pid(), SIGKILL);
  const auto result = point.value().call(0x1000, {});
  EXPECT_FALSE(result.ok());
  // How it ended is still there for whoever started it.
  EXPECT_EQ(target.end(SIGKILL), -SIGKILL);
}

// If the caller is killed in the middle of a call, the thread finds back by itself.
TEST(SafePoint, TargetSurvivesTheDeathOfItsCaller) {
  for (const char* word : {"float", "read", "storm"}) {
    RunningTarget target = started({word});
    const RemoteNames names(target.pid());
    const auto sleep = names.find("/libc.so", "usleep");
    ASSERT_TRUE(sleep);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t caller = ::fork();
    if (caller == 0) {
      auto point = SafePoint::reach(target.pid(), kPatient);
      if (!point.ok() || ::write(ends[1], "x", 1) != 1) ::_exit(1);
      (void)point.value().call(*sleep, {500'000});
      ::_exit(0);
    }
    ::close(ends[1]);
    char byte = 0;
    ASSERT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
    ::kill(caller, SIGKILL);
    int status = 0;
    ::waitpid(caller, &status, 0);
    EXPECT_EQ(target.end(), 0) << word << ": " << target.line();
  }
}

}  // namespace
}  // namespace plateau
