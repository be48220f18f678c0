// SPDX-License-Identifier: Apache-2.0
#include "session/watcher.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/files.h"
#include "import/import.h"
#include "recording/same_run_for_test.h"
#include "session/step_hub.h"
#include "session/step_socket.h"
#include "session/testing/child.h"

namespace plateau {
namespace {

using testing::HasSubstr;

// `sh -c LINE` in a session of its own, so that nothing above it belongs to the job.
class ShellJob {
 public:
  explicit ShellJob(const std::string& line, const std::string& output = "/dev/null",
                    const std::string& socket = "") {
    Pipe started;
    pid_ = fork();
    if (pid_ == 0) {
      setsid();
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      dup2(file, 1);
      dup2(file, 2);
      if (!socket.empty()) setenv("PLATEAU_SOCKET", socket.c_str(), 1);
      execlp("sh", "sh", "-c", line.c_str(), nullptr);
      _exit(1);
    }
    started.in.reset();
    read_to_end(started.out.get());  // Ends with exec.
  }
  ShellJob(const ShellJob&) = delete;
  ShellJob& operator=(const ShellJob&) = delete;
  ~ShellJob() { end(); }
  void end() {
    if (pid_ <= 0) return;
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

WatchOptions of(pid_t pid) {
  WatchOptions options;
  options.pid = pid;
  options.probe.gpus = false;
  options.probe.exclude = {getpid()};
  return options;
}

TEST(Watcher, NoSuchProcessIsAnError) {
  EXPECT_FALSE(Watcher::attach(of(0x7ffffff0)).ok());
}

TEST(Watcher, SeesAJobGrowAndEnd) {
  ShellJob job("exec tail -f /dev/null");
  auto watcher = Watcher::attach(of(job.pid()));
  ASSERT_TRUE(watcher.ok()) << watcher.error().message;
  EXPECT_THAT(watcher.value().session().journal().recording().run().command, HasSubstr("tail -f"));

  watcher.value().tick();
  watcher.value().tick();
  EXPECT_FALSE(watcher.value().over());
  EXPECT_EQ(watcher.value().session().snapshot().processes.front().key.pid, job.pid());
  job.end();
  watcher.value().tick();

  EXPECT_TRUE(watcher.value().over());
  const plateau::Run run = watcher.value().finish();
  EXPECT_EQ(run.ending.kind, Ending::Kind::vanished);
  EXPECT_EQ(run.instants.size(), 2u);
}

TEST(Watcher, AJobThatGoesOnIsLeft) {
  const ShellJob job("exec tail -f /dev/null");
  auto watcher = Watcher::attach(of(job.pid()));
  ASSERT_TRUE(watcher.ok());
  watcher.value().tick();
  EXPECT_EQ(watcher.value().finish().ending.kind, Ending::Kind::left);
  EXPECT_EQ(kill(job.pid(), 0), 0);
}

TEST(Watcher, WhatItEndsWithIsWhatItsRecordingHolds) {
  const ScratchDirectory scratch;
  const ShellJob job("exec tail -f /dev/null");
  WatchOptions options = of(job.pid());
  options.recording_path = scratch.file("job.plateau");
  options.given.limit_mb = Fact{900, "--limit"};
  auto watcher = Watcher::attach(options);
  ASSERT_TRUE(watcher.ok());
  for (int i = 0; i < 3; ++i) watcher.value().tick();
  const plateau::Run ended = watcher.value().finish();
  const Result<std::vector<plateau::Run>> read = import_file(options.recording_path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(difference_between(ended, read.value().back()), "");
}

TEST(Watcher, ReadsStepsOffTheFileTheJobWritesTo) {
  const ScratchDirectory scratch;
  const std::string log = scratch.file("train.log");
  std::ofstream(log) << "Step 41: loss 0.3\n";
  const ShellJob job("exec tail -f /dev/null", log);
  auto watcher = Watcher::attach(of(job.pid()));
  ASSERT_TRUE(watcher.ok());

  watcher.value().tick();
  EXPECT_THAT(watcher.value().step_source(), HasSubstr("train.log"));
  std::ofstream(log, std::ios::app) << "Step 42: loss 0.3\n";
  watcher.value().tick();

  EXPECT_EQ(watcher.value().session().journal().step(), 42);
}

TEST(Watcher, StepsOfAnEarlierJobInASharedErrorFileAreNotThoseOfThisOne) {
  const ScratchDirectory scratch;
  const std::string shared = scratch.file("all.log");
  std::ofstream(shared) << "Step 25184: the job before\n";
  const std::string own = scratch.file("own.log");
  std::ofstream(own) << "Step 41: loss 0.3\n";
  const ShellJob job("exec tail -f /dev/null >>" + own, shared);
  // The shell opens its file after it was started.
  const std::string output = fmt::format("/proc/{}/fd/1", job.pid());
  while (link_target(output) != own) usleep(1000);
  auto watcher = Watcher::attach(of(job.pid()));
  ASSERT_TRUE(watcher.ok());

  watcher.value().tick();
  EXPECT_EQ(watcher.value().session().journal().step(), 41);
  std::ofstream(shared, std::ios::app) << "Step 42: a progress bar's\n";
  watcher.value().tick();

  EXPECT_EQ(watcher.value().session().journal().step(), 42);
}

TEST(Watcher, HearsTheWordsThatAnotherWatcherPassesOn) {
  auto socket = StepSocket::create();
  ASSERT_TRUE(socket.ok());
  StepHub hub;
  hub.words(*parse_step_words("step 7"));
  const ShellJob job("exec tail -f /dev/null", "/dev/null", socket.value().path());
  auto watcher = Watcher::attach(of(job.pid()));
  ASSERT_TRUE(watcher.ok());

  watcher.value().tick();
  for (const StepWords& words : socket.value().receive()) hub.words(words);
  watcher.value().listen();
  EXPECT_EQ(watcher.value().session().journal().step(), 7);
  hub.words(*parse_step_words("step 8"));
  watcher.value().listen();

  EXPECT_EQ(hub.subscribers(), 1u);
  EXPECT_EQ(watcher.value().session().journal().step(), 8);
  EXPECT_GE(watcher.value().session().socket_fd(), 0);
  EXPECT_THAT(watcher.value().step_source(), HasSubstr("passed on"));
}

TEST(Watcher, ListensWhereNobodyDoes) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("steps");
  const ShellJob job("exec tail -f /dev/null", "/dev/null", path);
  auto watcher = Watcher::attach(of(job.pid()));
  ASSERT_TRUE(watcher.ok());
  watcher.value().tick();

  const Fd sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_TRUE(send_step_words(sender.get(), path, geteuid(), "step 12"));
  watcher.value().listen();

  EXPECT_EQ(watcher.value().session().journal().step(), 12);
}

TEST(Watcher, ASecondOneHearsWhatTheFirstListensTo) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("steps");
  const ShellJob job("exec tail -f /dev/null", "/dev/null", path);
  auto first = Watcher::attach(of(job.pid()));
  auto second = Watcher::attach(of(job.pid()));
  ASSERT_TRUE(first.ok() && second.ok());
  first.value().tick();
  second.value().tick();
  first.value().listen();

  const Fd sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_TRUE(send_step_words(sender.get(), path, geteuid(), "step 12"));
  first.value().listen();
  second.value().listen();

  EXPECT_EQ(second.value().session().journal().step(), 12);
}

TEST(Watcher, AGivenLogIsReadInsteadOfWhatIsFound) {
  const ScratchDirectory scratch;
  std::ofstream(scratch.file("other.log")) << "Step 5: ok\n";
  const ShellJob job("exec tail -f /dev/null", scratch.file("own.log"));
  WatchOptions options = of(job.pid());
  options.log = scratch.file("other.log");
  auto watcher = Watcher::attach(options);
  ASSERT_TRUE(watcher.ok());
  watcher.value().tick();
  EXPECT_EQ(watcher.value().session().journal().step(), 5);
  options.log = scratch.file("missing.log");
  EXPECT_FALSE(Watcher::attach(options).ok());
}

}  // namespace
}  // namespace plateau
