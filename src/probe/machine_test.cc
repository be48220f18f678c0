// SPDX-License-Identifier: Apache-2.0
#include "probe/machine.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/testing/proc_root.h"

namespace plateau {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// A machine of files; what is not written is not there.
struct Machine {
  ProcRoot files;

  MachinePlaces places() const {
    const std::string at = files.path();
    return {.root = at,
            .proc = at + "/proc",
            .cgroup = at + "/cg",
            .shm = at + "/no-shm",
            .maps = at + "/maps",
            .debug = at + "/debug",
            .nvml = "",
            .path = at + "/bin::" + at + "/more"};
  }
  MachineFacts look() const { return look_at_machine(places()); }
};

TEST(Machine, AnEmptyOneHasNothing) {
  const MachineFacts facts = Machine().look();
  EXPECT_FALSE(facts.proc);
  EXPECT_FALSE(facts.rollup);
  EXPECT_FALSE(facts.may_trace_all);
  EXPECT_EQ(facts.yama, -1);
  EXPECT_EQ(facts.seccomp, -1);
  EXPECT_EQ(facts.container, "");
  EXPECT_EQ(facts.cgroup.version, 0);
  EXPECT_EQ(facts.shm_kb, kUnread);
  EXPECT_FALSE(facts.glibc);
  EXPECT_THAT(facts.pythons, IsEmpty());
}

TEST(Machine, AnOrdinaryUserUnderYamaMayTraceNobodyElse) {
  const Machine machine;
  machine.files.write("proc/self/status",
                      "Uid:\t1000\t1001\t1000\t1000\nCapEff:\t0000000000000000\nSeccomp:\t2\n");
  machine.files.write("proc/sys/kernel/yama/ptrace_scope", "1\n");
  machine.files.write("proc/self/mounts", "proc /proc proc rw,nosuid,hidepid=invisible 0 0\n");
  const MachineFacts facts = machine.look();
  EXPECT_TRUE(facts.proc);
  EXPECT_EQ(facts.user, 1001);
  EXPECT_FALSE(facts.may_trace_all);
  EXPECT_EQ(facts.yama, 1);
  EXPECT_EQ(facts.seccomp, 2);
  EXPECT_TRUE(facts.hides_others);
}

TEST(Machine, TheCapabilityIsOneBit) {
  const Machine machine;
  machine.files.write("proc/self/status", "Uid:\t0\t0\nCapEff:\t0000000000080000\n");
  EXPECT_TRUE(machine.look().may_trace_all);
  machine.files.write("proc/self/status", "Uid:\t0\t0\nCapEff:\t00000000a80425fb\n");
  EXPECT_FALSE(machine.look().may_trace_all) << "docker's default";
}

TEST(Machine, OldKernelsHaveARollupWithoutKinds) {
  const Machine machine;
  machine.files.write("proc/self/smaps_rollup",
                      "00-ff ---p 0 0:0 0 [rollup]\nRss: 8 kB\nPss: 4 kB\n");
  MachineFacts facts = machine.look();
  EXPECT_TRUE(facts.rollup);
  EXPECT_FALSE(facts.pss);
  machine.files.write("proc/self/smaps_rollup", "Rss: 8 kB\nPss: 4 kB\nPss_Anon: 2 kB\n");
  EXPECT_TRUE(machine.look().pss);
}

TEST(Machine, AGroupOfVersionTwoIsMadeWhereTheControllerIsHandedDown) {
  const Machine machine;
  machine.files.write("proc/7/cgroup", "0::/user/job\n");
  ASSERT_EQ(symlink("7", (machine.files.path() + "/proc/self").c_str()), 0);
  machine.files.write("cg/user/job/memory.current", "4096\n");
  machine.files.write("cg/user/memory.max", "1073741824\n");
  MachineFacts facts = machine.look();
  EXPECT_EQ(facts.cgroup.version, 2);
  EXPECT_EQ(facts.cgroup.limit_kb, 1 << 20);
  EXPECT_FALSE(facts.may_make_groups);
  machine.files.write("cg/user/cgroup.subtree_control", "cpu memory pids\n");
  EXPECT_TRUE(machine.look().may_make_groups);
}

TEST(Machine, ContainersAreKnownByFileOrGroup) {
  const Machine docker;
  docker.files.write(".dockerenv", "");
  EXPECT_EQ(docker.look().container, "docker");
  const Machine podman;
  podman.files.write("run/.containerenv", "");
  EXPECT_EQ(podman.look().container, "podman");
  const Machine pod;
  pod.files.write("proc/self/cgroup", "0::/kubepods.slice/pod1\n");
  pod.files.write(".dockerenv", "");
  EXPECT_EQ(pod.look().container, "kubernetes");
}

TEST(Machine, PythonsAreTheFirstOfEachVersionOnThePath) {
  const Machine machine;
  machine.files.write("bin/python3.12", "");
  machine.files.write("bin/python3.12-config", "");
  machine.files.write("more/python3.12", "");
  machine.files.write("more/python3.9", "");
  machine.files.write("lib/python3.14", "");
  const std::string at = machine.files.path();
  ASSERT_EQ(symlink((at + "/lib/python3.14").c_str(), (at + "/more/python3").c_str()), 0);
  const MachineFacts facts = machine.look();
  ASSERT_THAT(facts.pythons, SizeIs(3));
  EXPECT_EQ(facts.pythons[0].path, at + "/more/python3.9");
  EXPECT_EQ(facts.pythons[1].path, at + "/bin/python3.12");
  EXPECT_EQ(facts.pythons[2].path, at + "/more/python3");
  EXPECT_EQ(facts.pythons[2].minor, 14);
}

TEST(Machine, DebugFilesAndMapsAreCounted) {
  const Machine machine;
  EXPECT_FALSE(machine.look().debug_files);
  machine.files.write("debug/.build-id/ab/cd.debug", "");
  machine.files.write("maps/perf-17.map", "");
  machine.files.write("maps/perf.data", "");
  const MachineFacts facts = machine.look();
  EXPECT_TRUE(facts.debug_files);
  EXPECT_EQ(facts.perf_maps, 1);
}

TEST(Machine, ThisOneShowsItself) {
  const MachineFacts facts = look_at_machine({});
  EXPECT_TRUE(facts.proc);
  EXPECT_TRUE(facts.smaps);
  EXPECT_EQ(facts.user, geteuid());
}

}  // namespace
}  // namespace plateau
