// SPDX-License-Identifier: Apache-2.0
#include "session/channel.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "session/testing/child.h"

namespace plateau {
namespace {

struct Terminal {
  explicit Terminal(unsigned short rows = 33, unsigned short columns = 77) {
    winsize size = {.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    int ends[2] = {-1, -1};
    if (openpty(&ends[0], &ends[1], nullptr, nullptr, &size) != 0) std::abort();
    master = Fd(ends[0]);
    slave = Fd(ends[1]);
  }
  Fd master;
  Fd slave;
};

TEST(Channel, OutputAndErrorsOfOnePlaceShareAChannel) {
  const Pipe pipe;
  const int code = in_child([&] {
    dup2(pipe.in.get(), 1);
    dup2(pipe.in.get(), 2);
    const auto opened = open_channels();
    if (!opened || opened.value().size() != 1) return 1;
    const Channel& channel = opened.value()[0];
    if (!channel.carries_stdout || !channel.carries_stderr) return 2;
    return channel.terminal || channel.sink != 1 ? 3 : 0;
  });
  EXPECT_EQ(code, 0);
}

TEST(Channel, TwoPlacesAreTwoChannels) {
  const Pipe first;
  const Pipe second;
  const int code = in_child([&] {
    dup2(first.in.get(), 1);
    dup2(second.in.get(), 2);
    const auto opened = open_channels();
    if (!opened || opened.value().size() != 2) return 1;
    const Channel& out = opened.value()[0];
    const Channel& err = opened.value()[1];
    if (!out.carries_stdout || out.carries_stderr || out.sink != 1) return 2;
    return !err.carries_stderr || err.carries_stdout || err.sink != 2 ? 3 : 0;
  });
  EXPECT_EQ(code, 0);
}

TEST(Channel, ATerminalBecomesARawTerminalOfTheSameSize) {
  const Terminal terminal;
  const int code = in_child([&] {
    dup2(terminal.slave.get(), 1);
    dup2(terminal.slave.get(), 2);
    const auto opened = open_channels();
    if (!opened || opened.value().size() != 1) return 1;
    const Channel& channel = opened.value()[0];
    if (!channel.terminal || isatty(channel.job_end.get()) != 1) return 2;
    winsize size = {};
    ioctl(channel.job_end.get(), TIOCGWINSZ, &size);
    if (size.ws_row != 33 || size.ws_col != 77) return 3;
    termios modes = {};
    tcgetattr(channel.job_end.get(), &modes);
    return (modes.c_oflag & OPOST) != 0 || (modes.c_lflag & ECHO) != 0 ? 4 : 0;
  });
  EXPECT_EQ(code, 0);
}

TEST(Channel, ErrorsInAFileBesideATerminalStayOutOfIt) {
  const Terminal terminal;
  const Pipe pipe;
  const int code = in_child([&] {
    dup2(terminal.slave.get(), 1);
    dup2(pipe.in.get(), 2);
    const auto opened = open_channels();
    if (!opened || opened.value().size() != 2) return 1;
    return opened.value()[0].terminal && !opened.value()[1].terminal ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
}

TEST(Channel, ASizeIsCopiedOnceItChanged) {
  const Terminal real(40, 100);
  const Terminal ours(33, 77);
  EXPECT_TRUE(copy_terminal_size(real.slave.get(), ours.master.get()));
  EXPECT_FALSE(copy_terminal_size(real.slave.get(), ours.master.get()));
  winsize size = {};
  ioctl(ours.slave.get(), TIOCGWINSZ, &size);
  EXPECT_EQ(size.ws_row, 40);
  EXPECT_EQ(size.ws_col, 100);
}

TEST(Channel, WhatIsNoTerminalHasNoSize) {
  const Pipe pipe;
  const Terminal ours;
  EXPECT_FALSE(copy_terminal_size(pipe.in.get(), ours.master.get()));
}

}  // namespace
}  // namespace plateau
