// SPDX-License-Identifier: Apache-2.0
#include "probe/fd_scan.h"

#include <gtest/gtest.h>

#include "probe/sampler.h"
#include "probe/testing/live_process.h"

namespace plateau {
namespace {

constexpr size_t kSegment = 8 << 20;

// A memfd of 8 MB whose pages are all there; mapped on return if asked.
int make_segment(bool stay_mapped) {
  const int fd = memfd_create("batch", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, kSegment) != 0) _exit(2);
  void* at = mmap(nullptr, kSegment, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  std::memset(at, 1, kSegment);
  if (!stay_mapped) munmap(at, kSegment);
  return fd;
}

Snapshot look_at(pid_t pid) {
  ProbeOptions options;
  options.nvml = "";
  options.follow_orphans = false;
  auto sampler = Sampler::of_pid(pid, options, true);
  return sampler.ok() ? sampler.value().sample(0) : Snapshot();
}

TEST(FdScan, SegmentsHeldOpenButUnmappedAreFound) {
  LiveProcess child([](Signal& ready) {
    make_segment(false);
    make_segment(false);
    make_segment(true);
    ready.raise();
    pause();
  });
  const Snapshot snapshot = look_at(child.pid());
  ASSERT_EQ(snapshot.processes.size(), 1u);
  EXPECT_EQ(snapshot.processes[0].shmem_unmapped_kb, 16 * 1024);
  EXPECT_GE(snapshot.processes[0].shmem_kb, 8 * 1024);
}

TEST(FdScan, SegmentOfTwoHoldersCountsOnceAndAtTheFirst) {
  LiveProcess parent([](Signal& ready) {
    make_segment(false);
    LiveProcess heir([](Signal& up) {
      up.raise();
      pause();
    });
    ready.raise();
    pause();
  });
  const Snapshot snapshot = look_at(parent.pid());
  ASSERT_EQ(snapshot.processes.size(), 2u);
  EXPECT_EQ(snapshot.processes[0].shmem_unmapped_kb, 8 * 1024);
  EXPECT_EQ(snapshot.processes[1].shmem_unmapped_kb, 0);
}

TEST(FdScan, SegmentThatAnotherMemberMapsIsNotCounted) {
  LiveProcess parent([](Signal& ready) {
    const int fd = make_segment(false);
    LiveProcess mapper([fd](Signal& up) {
      void* at = mmap(nullptr, kSegment, PROT_READ, MAP_SHARED, fd, 0);
      volatile char first = *static_cast<char*>(at);
      (void)first;
      close(fd);
      up.raise();
      pause();
    });
    ready.raise();
    pause();
  });
  const Snapshot snapshot = look_at(parent.pid());
  ASSERT_EQ(snapshot.processes.size(), 2u);
  EXPECT_EQ(snapshot.processes[0].shmem_unmapped_kb, 0);
}

// Time comes from the caller, so a day passes at once.
TEST(FdScan, EarlyScansComeTwiceASecondLaterOnesAtTheirPace) {
  std::vector<Member> nobody;
  WalkBudget budget(0.002, 0.005);
  FdScan scan(10, 0.002, 0.005);
  const auto run_at = [&](double now_s) {
    scan.run(now_s, nobody, budget, [] { return 0.0; }, [](const Member&, int) {});
  };
  run_at(100);
  EXPECT_FALSE(scan.due(100.4));
  EXPECT_TRUE(scan.due(100.5));
  run_at(161);
  EXPECT_FALSE(scan.due(170));
  EXPECT_TRUE(scan.due(171));
}

TEST(FdScan, DearScansWaitUntilTheyArePaidFor) {
  std::vector<Member> nobody;
  WalkBudget budget(0.002, 0.005);
  FdScan scan(10, 0.002, 0.005);
  double now_s = 0;
  scan.run(0, nobody, budget, [&now_s] { return now_s += 0.01; }, [](const Member&, int) {});
  EXPECT_FALSE(scan.due(1.9));
  EXPECT_TRUE(scan.due(2.1));
}

TEST(FdScan, OnlySharedMemoryIsLookedInto) {
  EXPECT_TRUE(is_shared_memory_link("/memfd:x (deleted)"));
  EXPECT_TRUE(is_shared_memory_link("/dev/shm/torch_12_0 (deleted)"));
  EXPECT_FALSE(is_shared_memory_link("socket:[123]"));
  EXPECT_FALSE(is_shared_memory_link("/home/x/dev/shm/file"));
}

}  // namespace
}  // namespace plateau
