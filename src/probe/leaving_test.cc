// SPDX-License-Identifier: Apache-2.0
// Processes on their way out: the kernel has taken their memory, which takes it a second for each
// 10 GB or so, and they are still listed. What was read of them before is no figure of now.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <string>
#include <thread>

#include "base/files.h"
#include "probe/sampler.h"
#include "probe/testing/live_process.h"
#include "probe/testing/proc_root.h"

namespace plateau {
namespace {

using testing::IsEmpty;

ProbeOptions without_gpus() {
  ProbeOptions options;
  options.nvml = "";
  return options;
}

const ProcessSample* process_of(const Snapshot& snapshot, pid_t pid) {
  const auto at = std::ranges::find_if(
      snapshot.processes, [pid](const ProcessSample& sample) { return sample.key.pid == pid; });
  return at == snapshot.processes.end() ? nullptr : &*at;
}

// A made-up process whose memory the kernel has already taken, as it is for the time that takes.
void let_go_of_memory(const ProcRoot& root, pid_t pid) {
  const std::string dir = std::to_string(pid) + "/";
  root.write(dir + "statm", "0 0 0 0 0 0 0\n");
  root.write(dir + "status", "Tgid:\t" + std::to_string(pid) + "\nThreads:\t1\n");
}

TEST(Leaving, MainThatHasNoMemoryAnyMoreMakesASampleThatIsNotWhole) {
  const ProcRoot root;
  root.process({.pid = 100, .ppid = 1, .command = "python train.py", .anon_kb = 500000});
  ProbeOptions options = without_gpus();
  options.proc = root.path();
  Sampler sampler = std::move(Sampler::of_pid(100, options, true).value());
  const Snapshot before = sampler.sample(0);
  EXPECT_TRUE(before.whole);
  EXPECT_EQ(before.processes[0].pss_anon_kb, 500000);

  let_go_of_memory(root, 100);
  for (const double at_s : {0.1, 0.2, 1.5, 12.0}) {
    const Snapshot during = sampler.sample(at_s);
    EXPECT_FALSE(during.whole) << at_s;
    EXPECT_THAT(during.processes, IsEmpty()) << "old figures are not repeated as new";
  }
}

TEST(Leaving, WorkerThatHasNoMemoryAnyMoreIsLeftOutAndTheRestIsWhole) {
  const ProcRoot root;
  root.process({.pid = 100, .ppid = 1, .command = "python train.py", .anon_kb = 500000});
  root.process({.pid = 101, .ppid = 100, .command = "python train.py", .anon_kb = 700000});
  ProbeOptions options = without_gpus();
  options.proc = root.path();
  Sampler sampler = std::move(Sampler::of_pid(100, options, true).value());
  ASSERT_EQ(sampler.sample(0).processes.size(), 2u);
  let_go_of_memory(root, 101);
  root.write("100/smaps_rollup",
             "00400000-7fff0000 ---p 00000000 00:00 0 [rollup]\nPss: 250000 kB\n");
  sampler.want_walk();
  const Snapshot after = sampler.sample(0.1);
  EXPECT_TRUE(after.whole);
  EXPECT_FALSE(after.walked) << "the worker's share of the pages is not known";
  ASSERT_EQ(after.processes.size(), 1u);
  EXPECT_EQ(after.processes[0].key.pid, 100);
}

TEST(Leaving, WorkerThatHasLetGoOfItsPagesSharesThemWithNobody) {
  // Given a parent that was walked while it shared all of its 500 MB with the worker it forked.
  const ProcRoot root;
  for (const pid_t pid : {100, 101}) {
    root.process({.pid = pid,
                  .ppid = pid == 100 ? 1 : 100,
                  .command = "python train.py",
                  .anon_kb = 500000});
    root.write(std::to_string(pid) + "/smaps_rollup",
               "00400000-7fff0000 ---p 00000000 00:00 0 [rollup]\nRss: 500000 kB\n"
               "Pss: 250000 kB\nPss_Anon: 250000 kB\nPss_File: 0 kB\nPss_Shmem: 0 kB\n"
               "Anonymous: 500000 kB\nPrivate_Dirty: 0 kB\nSwap: 0 kB\nSwapPss: 0 kB\n");
  }
  ProbeOptions options = without_gpus();
  options.proc = root.path();
  Sampler sampler = std::move(Sampler::of_pid(100, options, true).value());
  sampler.want_walk();
  const Snapshot shared = sampler.sample(0);
  ASSERT_TRUE(shared.walked);
  ASSERT_EQ(shared.processes.size(), 2u);
  ASSERT_EQ(process_of(shared, 100)->pss_anon_kb, 250000);
  // When the worker has let go of its memory and is still there, the parent's pages are its own:
  // what it kept of the walk would be a dip of 250 MB that never was.
  let_go_of_memory(root, 101);
  for (const double at_s : {1.5, 3.0}) {
    const Snapshot after = sampler.sample(at_s);
    ASSERT_EQ(after.processes.size(), 1u) << at_s;
    EXPECT_EQ(process_of(after, 100)->pss_anon_kb, 500000) << at_s;
  }
}

TEST(Leaving, ThreadsThatOutliveTheirLeaderStillShowTheirMemory) {
  LiveProcess child([](Signal& ready) {
    // Both outlive the leader.
    static const Ballast ballast(64);
    std::thread([] {
      while (true) pause();
    }).detach();
    ready.raise();
    ready.wait_for_parent();
    syscall(SYS_exit, 0);
  });
  Sampler sampler = std::move(Sampler::of_pid(child.pid(), without_gpus(), true).value());
  sampler.sample(0);
  child.tell();
  const std::string stat = "/proc/" + std::to_string(child.pid()) + "/stat";
  while (text_of_file(stat).find(") Z") == std::string::npos) usleep(1000);
  for (const double at_s : {0.1, 1.2, 2.5, 13.0}) {
    const Snapshot snapshot = sampler.sample(at_s);
    EXPECT_TRUE(snapshot.whole);
    ASSERT_EQ(snapshot.processes.size(), 1u);
    EXPECT_GE(snapshot.processes[0].anon_kb, 64 * 1024);
  }
}

TEST(Leaving, EndOfALargeProcessNeverRepeatsWhatItHeld) {
  // Many ends, looked at as fast as can be: every figure is of a process that grows all the while.
  for (int round = 0; round < 20; ++round) {
    LiveProcess child([](Signal& ready) {
      Ballast ballast(200);
      ready.raise();
      ready.wait_for_parent();
    });
    Sampler sampler = std::move(Sampler::of_pid(child.pid(), without_gpus(), true).value());
    sampler.sample(0);
    child.tell();
    bool left = false;
    for (int tick = 1; tick < 100000; ++tick) {
      const Snapshot snapshot = sampler.sample(tick * 0.1);
      if (snapshot.processes.empty()) left = true;
      if (left) {
        EXPECT_THAT(snapshot.processes, IsEmpty()) << "it came back";
      }
      if (snapshot.processes.empty() && snapshot.whole) break;
    }
    EXPECT_TRUE(left);
  }
}

}  // namespace
}  // namespace plateau
