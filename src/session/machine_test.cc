// SPDX-License-Identifier: Apache-2.0
#include "session/machine.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <vector>

#include "session/testing/child.h"

namespace plateau {
namespace {

std::string quoted(const std::vector<std::string>& words) {
  return shell_words(words);
}

TEST(ShellWords, PlainWordsStayPlainAndOthersAreQuoted) {
  EXPECT_EQ(quoted({"python", "train.py", "--lr=1e-4"}), "python train.py --lr=1e-4");
  EXPECT_EQ(quoted({"sh", "-c", "echo a b"}), "sh -c 'echo a b'");
  EXPECT_EQ(quoted({"", "it's", "$HOME", "a;b"}), "'' 'it'\\''s' '$HOME' 'a;b'");
  EXPECT_EQ(quoted({}), "");
}

TEST(ShellWords, AShellReadsBackTheSameWords) {
  const std::vector<std::string> words = {"printf", "%s|", "a b", "", "'", "\\", "$(x)", "\n", "*"};
  const std::unique_ptr<FILE, int (*)(FILE*)> shell(popen(quoted(words).c_str(), "r"), pclose);
  ASSERT_TRUE(shell);
  EXPECT_EQ(read_to_end(fileno(shell.get())), "a b||'|\\|$(x)|\n|*|");
}

ProcessSample process(int64_t anon_kb) {
  ProcessSample sample;
  sample.anon_kb = anon_kb;
  return sample;
}

TEST(HeldMemory, IsOwnedSharedAndSwapOverTheTree) {
  Snapshot snapshot;
  snapshot.processes = {process(1000), process(2000)};
  snapshot.processes[0].shmem_kb = 10;
  snapshot.processes[1].swap_kb = 500;
  snapshot.processes[1].shmem_unmapped_kb = 40;
  snapshot.processes[1].file_kb = 99999;  // The kernel takes it back.
  EXPECT_DOUBLE_EQ(held_mb(snapshot), 3550 * 1024 / 1e6);
}

TEST(HeldMemory, ProportionalFiguresReplaceThoseThatCountSharedPagesTwice) {
  Snapshot snapshot;
  snapshot.processes = {process(1000), process(1000)};
  for (ProcessSample& sample : snapshot.processes) {
    sample.pss_anon_kb = 500;
    sample.shmem_kb = 200;
    sample.pss_shmem_kb = 100;
  }
  EXPECT_DOUBLE_EQ(held_mb(snapshot), 1200 * 1024 / 1e6);
  EXPECT_DOUBLE_EQ(held_mb(Snapshot()), 0);
}

TEST(HandlesSignal, IsWhatTheChildSetUp) {
  const Pipe ready;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::signal(SIGUSR1, [](int) {});
    std::signal(SIGUSR2, SIG_IGN);
    write_text(ready.in.get(), "x");
    while (true) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready.out.get(), &byte, 1), 1);
  EXPECT_TRUE(handles_signal(child, SIGUSR1));
  EXPECT_FALSE(handles_signal(child, SIGUSR2));
  EXPECT_FALSE(handles_signal(child, SIGTERM));
  EXPECT_FALSE(handles_signal(child, 0));
  EXPECT_FALSE(handles_signal(child, 65));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(handles_signal(child, SIGUSR1));
}

TEST(Machine, TheCommandOfAProcessIsReadAndOneThatIsGoneIsEmpty) {
  const pid_t child = fork();
  if (child == 0) {
    execlp("sleep", "sleep", "60", nullptr);
    _exit(1);
  }
  std::string command;
  for (int i = 0; i < 500 && command != "sleep 60"; ++i) {
    command = command_of(child, "/proc");
    usleep(10'000);
  }
  EXPECT_EQ(command, "sleep 60");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(command_of(child, "/proc"), "");
}

TEST(Machine, ClocksGoForward) {
  const double before_s = monotonic_now_s();
  const double cpu_before_s = own_cpu_s();
  volatile int last = 0;
  for (int i = 0; i < 20'000'000; ++i) last = i;
  EXPECT_GT(last, 0);
  EXPECT_GT(monotonic_now_s(), before_s);
  EXPECT_GT(own_cpu_s(), cpu_before_s);
}

}  // namespace
}  // namespace plateau
