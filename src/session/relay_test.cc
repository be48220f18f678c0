// SPDX-License-Identifier: Apache-2.0
#include "session/relay.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/prctl.h>
#include <termios.h>

#include <csignal>

#include "session/testing/child.h"

namespace plateau {
namespace {

// A channel whose bytes go on into a pipe that the test reads.
struct Course {
  explicit Course(bool terminal = false) {
    channel.sink = sink.in.get();
    channel.terminal = terminal;
    if (terminal) {
      termios raw = {};
      cfmakeraw(&raw);
      int ends[2] = {-1, -1};
      if (openpty(&ends[0], &ends[1], nullptr, &raw, nullptr) != 0) std::abort();
      channel.our_end = Fd(ends[0]);
      channel.job_end = Fd(ends[1]);
    } else {
      Pipe pipe;
      channel.our_end = std::move(pipe.out);
      channel.job_end = std::move(pipe.in);
    }
  }
  // From here on only the relay writes into the sink.
  Relay start() {
    Result<Relay> relay = start_relay(channel, 0);
    if (!relay) std::abort();
    sink.in.reset();
    return std::move(relay.value());
  }

  Pipe sink;
  Channel channel;
};

// A child that writes `bytes` into the channel, then ends.
pid_t write_from_child(Course& course, const std::string& bytes) {
  const pid_t pid = fork();
  if (pid == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    course.sink.out.reset();
    write_text(course.channel.job_end.get(), bytes);
    _exit(0);
  }
  course.channel.job_end.reset();
  return pid;
}

class RelayOf : public testing::TestWithParam<bool> {};

TEST_P(RelayOf, MegabytesOfAnythingPassUntouchedThoughNobodyReadsTheCopy) {
  const std::string bytes = random_bytes(5'000'000);
  Course course(GetParam());
  const Relay relay = course.start();

  const pid_t writer = write_from_child(course, bytes);
  const std::string carried = read_to_end(course.sink.out.get());

  EXPECT_TRUE(carried == bytes);
  waitpid(writer, nullptr, 0);
  int status = -1;
  waitpid(relay.pid, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_P(RelayOf, TheCopyHoldsTheSameBytes) {
  Course course(GetParam());
  const Relay relay = course.start();

  write_text(course.channel.job_end.get(), "Step 120\n");

  EXPECT_EQ(read_some(relay.copy.get(), 9), "Step 120\n");
  course.channel.job_end.reset();
  EXPECT_EQ(read_to_end(course.sink.out.get()), "Step 120\n");
  waitpid(relay.pid, nullptr, 0);
}

TEST_P(RelayOf, AReaderThatGoesAwayIsFeltByTheWriter) {
  Course course(GetParam());
  const Relay relay = course.start();

  const pid_t writer = write_from_child(course, random_bytes(3'000'000));
  course.sink.out.reset();

  int status = 0;
  waitpid(writer, &status, 0);
  // A pipe ends its writer; a terminal that is gone reports an error to it.
  if (!GetParam()) {
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
  }
  EXPECT_EQ(waitpid(relay.pid, nullptr, 0), relay.pid);
}

TEST_P(RelayOf, WhoeverStartedItMayGo) {
  Course course(GetParam());
  const int code = in_child([&] { return start_relay(course.channel, 0).ok() ? 0 : 1; });
  course.channel.our_end.reset();
  course.sink.in.reset();

  const pid_t writer = write_from_child(course, random_bytes(2'000'000));

  EXPECT_EQ(code, 0);
  EXPECT_TRUE(read_to_end(course.sink.out.get()) == random_bytes(2'000'000));
  waitpid(writer, nullptr, 0);
}

INSTANTIATE_TEST_SUITE_P(Channels, RelayOf, testing::Values(false, true),
                         [](const auto& which) { return which.param ? "Terminal" : "Pipe"; });

TEST(Relay, DroppedBytesLeaveALineBreakInTheCopy) {
  Course course;
  const Relay relay = course.start();
  const pid_t reader = fork();
  if (reader == 0) {
    course.channel.job_end.reset();
    read_to_end(course.sink.out.get());
    _exit(0);
  }

  const std::string first(3'000'000, 'x');
  write_text(course.channel.job_end.get(), first);
  // The pipe of the copy holds a megabyte at most: some of the three are dropped.
  std::string copied = read_to_end(relay.copy.get());
  for (int i = 0; i < 50 && copied.find('\n') == std::string::npos; ++i) {
    write_text(course.channel.job_end.get(), "Step 7\n");
    copied += read_some(relay.copy.get(), 1);
    copied += read_to_end(relay.copy.get());
  }

  EXPECT_LT(copied.size(), first.size());
  // Without the break the first line would end in "xStep 7".
  ASSERT_NE(copied.find('\n'), std::string::npos);
  EXPECT_EQ(copied[copied.find('\n') - 1], 'x');
  course.channel.job_end.reset();
  course.sink.out.reset();
  waitpid(reader, nullptr, 0);
  waitpid(relay.pid, nullptr, 0);
}

TEST(Relay, SignalsFromTheTerminalDoNotEndIt) {
  Course course;
  const Relay relay = course.start();
  write_text(course.channel.job_end.get(), "a");
  read_some(relay.copy.get(), 1);  // It runs, its signals are set.

  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) kill(relay.pid, number);
  write_text(course.channel.job_end.get(), "b");
  course.channel.job_end.reset();

  EXPECT_EQ(read_to_end(course.sink.out.get()), "ab");
  waitpid(relay.pid, nullptr, 0);
}

}  // namespace
}  // namespace plateau
