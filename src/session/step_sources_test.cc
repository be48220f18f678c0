// SPDX-License-Identifier: Apache-2.0
#include "session/step_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "session/testing/child.h"

namespace plateau {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// `sleep 60` with one more environment variable and its standard output in a file.
class Sleeper {
 public:
  explicit Sleeper(const std::string& variable, const std::string& output = "/dev/null") {
    Pipe started;
    pid_ = fork();
    if (pid_ == 0) {
      const int file = open(output.c_str(), O_WRONLY | O_CREAT, 0600);
      dup2(file, 1);
      setenv("PLATEAU_SOCKET", variable.c_str(), 1);
      execlp("sleep", "sleep", "60", nullptr);
      _exit(1);
    }
    started.in.reset();
    read_to_end(started.out.get());  // Ends with exec.
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

void append(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::app) << text;
}

int64_t last_step(FileFollower& file) {
  int64_t step = -1;
  for (const LineClock::News& news : file.read()) {
    if (news.step >= 0) step = news.step;
  }
  return step;
}

TEST(SocketsOf, AreThoseInTheJobsEnvironment) {
  const Sleeper two("/tmp/a/steps:/tmp/b/steps");
  EXPECT_THAT(sockets_of(two.pid(), "/proc"), ElementsAre("/tmp/a/steps", "/tmp/b/steps"));
  const Sleeper odd("::relative:/tmp/c");
  EXPECT_THAT(sockets_of(odd.pid(), "/proc"), ElementsAre("/tmp/c"));
  EXPECT_THAT(sockets_of(0x7ffffff0, "/proc"), IsEmpty());
}

TEST(OutputFileOf, IsARegularFileOrNothing) {
  const ScratchDirectory scratch;
  const Sleeper into_file("", scratch.file("train.log"));
  const auto found = output_file_of(into_file.pid(), 1, "/proc");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->name, scratch.file("train.log"));
  const Sleeper into_nothing("");
  EXPECT_FALSE(output_file_of(into_nothing.pid(), 1, "/proc").has_value());
  EXPECT_FALSE(output_file_of(into_nothing.pid(), 77, "/proc").has_value());
}

TEST(OutputFileOf, LeadsToTheJobsFileAndNotToAnotherOfItsName) {
  const ScratchDirectory scratch;
  const Sleeper job("", scratch.file("train.log"));
  append(scratch.file("train.log"), "Step 7: loss 0.3\n");
  const auto found = output_file_of(job.pid(), 1, "/proc");
  ASSERT_TRUE(found.has_value());
  std::filesystem::remove(scratch.file("train.log"));
  append(scratch.file("train.log"), "Step 999: somebody else's\n");
  auto file = FileFollower::open(found->link, found->name);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(last_step(file.value()), 7);
}

TEST(SocketsOf, ThousandsInOneEnvironmentAreCutShort) {
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "/tmp/s" + std::to_string(i) + ":";
  const Sleeper job(many);
  EXPECT_EQ(sockets_of(job.pid(), "/proc").size(), 16u);
}

TEST(FileFollower, SaysWhatIsAppended) {
  const ScratchDirectory scratch;
  append(scratch.file("log"), "Step 1: loss 0.3\nStep 2: loss 0.3\n");
  auto file = FileFollower::open(scratch.file("log"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(last_step(file.value()), 2);
  EXPECT_EQ(last_step(file.value()), -1);

  append(scratch.file("log"), "Step 3: lo");
  EXPECT_EQ(last_step(file.value()), -1);
  append(scratch.file("log"), "ss 0.3\n");
  EXPECT_EQ(last_step(file.value()), 3);
}

TEST(FileFollower, OfALongFileOnlyTheEndIsRead) {
  const ScratchDirectory scratch;
  std::string text;
  for (int step = 1; step <= 20'000; ++step) text += "Step " + std::to_string(step) + ": ok\n";
  append(scratch.file("log"), text);
  auto file = FileFollower::open(scratch.file("log"));
  ASSERT_TRUE(file.ok());
  const auto news = file.value().read();
  ASSERT_FALSE(news.empty());
  EXPECT_LT(news.size(), 10'000u);
  EXPECT_EQ(news.back().step, 20'000);
}

TEST(FileFollower, ATruncatedFileIsReadFromItsStart) {
  const ScratchDirectory scratch;
  append(scratch.file("log"), "Step 10: loss 0.3\nStep 11: loss 0.3\n");
  auto file = FileFollower::open(scratch.file("log"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(last_step(file.value()), 11);
  ASSERT_EQ(truncate(scratch.file("log").c_str(), 0), 0);
  append(scratch.file("log"), "Step 12: loss 0.3\n");
  EXPECT_EQ(last_step(file.value()), 12);
}

TEST(FileFollower, WhatIsNoRegularFileIsRefused) {
  EXPECT_FALSE(FileFollower::open("/dev/null").ok());
  EXPECT_FALSE(FileFollower::open("/tmp").ok());
  EXPECT_FALSE(FileFollower::open("/no/such/file").ok());
}

}  // namespace
}  // namespace plateau
