// SPDX-License-Identifier: Apache-2.0
#include "probe/cgroup.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "probe/proc_files.h"
#include "probe/testing/live_process.h"
#include "probe/testing/proc_root.h"

namespace plateau {
namespace {

CgroupSample read_of(const std::string& proc_path, const std::string& root, pid_t pid) {
  const Fd proc(open(proc_path.c_str(), O_RDONLY | O_DIRECTORY));
  ProcBuffer buffer;
  CgroupReader reader(root, proc.get());
  reader.follow(pid, buffer);
  return reader.read(true, buffer);
}

TEST(Cgroup, VersionTwoTakesTheTightestLimitAbove) {
  const ProcRoot root;
  root.write("7/cgroup", "0::/a/b\n");
  root.write("cg/a/b/memory.current", "8192000\n");
  root.write("cg/a/b/memory.max", "max\n");
  root.write("cg/a/memory.max", "10485760\n");
  root.write("cg/a/b/memory.stat", "anon 4096000\nfile 3072000\nshmem 1024000\n");
  root.write("cg/a/b/memory.events", "low 0\noom 3\noom_kill 2\n");
  const CgroupSample sample = read_of(root.path(), root.path() + "/cg", 7);
  EXPECT_EQ(sample.version, 2);
  EXPECT_EQ(sample.path, "/a/b");
  EXPECT_EQ(sample.usage_kb, 8000);
  EXPECT_EQ(sample.anon_kb, 4000);
  EXPECT_EQ(sample.file_kb, 2000);
  EXPECT_EQ(sample.shmem_kb, 1000);
  EXPECT_EQ(sample.limit_kb, 10240);
  EXPECT_EQ(sample.oom_kills, 2);
}

TEST(Cgroup, VersionOneCountsWhatIsBelowToo) {
  const ProcRoot root;
  root.write("7/cgroup", "4:memory:/job\n0::/\n");
  root.write("cg/memory/job/memory.usage_in_bytes", "2048\n");
  root.write("cg/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("cg/memory/job/memory.stat",
             "cache 0\nrss 0\ntotal_cache 3072\ntotal_rss 1024\ntotal_shmem 1024\n");
  root.write("cg/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  const CgroupSample sample = read_of(root.path(), root.path() + "/cg", 7);
  EXPECT_EQ(sample.version, 1);
  EXPECT_EQ(sample.anon_kb, 1);
  EXPECT_EQ(sample.file_kb, 2);
  EXPECT_EQ(sample.limit_kb, kUnread);
  EXPECT_EQ(sample.oom_kills, 1);
}

TEST(Cgroup, NoHierarchyIsNoGroup) {
  const ProcRoot root;
  root.write("7/cgroup", "0::/a\n");
  EXPECT_EQ(read_of(root.path(), root.path() + "/none", 7).version, 0);
}

// A group below our own, removed again, with one short-lived child in it.
TEST(Cgroup, RealVersionOneGroupShowsItsLimit) {
  const Fd proc(open("/proc", O_RDONLY | O_DIRECTORY));
  ProcBuffer buffer;
  CgroupReader own("/sys/fs/cgroup", proc.get());
  own.follow(getpid(), buffer);
  const CgroupSample before = own.read(true, buffer);
  if (before.version != 1) GTEST_SKIP() << "the memory controller is not on version 1 here";
  const std::string dir = "/sys/fs/cgroup/memory" + (before.path == "/" ? "" : before.path) +
                          "/plateau-test-" + std::to_string(getpid());
  if (mkdir(dir.c_str(), 0755) != 0) GTEST_SKIP() << "no group may be made: " << strerror(errno);
  CgroupSample sample;
  {
    LiveProcess child([&dir](Signal& ready) {
      const int fd = open((dir + "/cgroup.procs").c_str(), O_WRONLY);
      const bool moved = write(fd, "0", 1) == 1;
      const int limit = open((dir + "/memory.limit_in_bytes").c_str(), O_WRONLY);
      const bool limited = write(limit, "67108864", 8) == 8;
      const Ballast ballast(moved && limited ? 16 : 1);
      ready.say(moved && limited ? 1 : 0);
      ready.raise();
      pause();
    });
    if (child.said() == 1) sample = read_of("/proc", "/sys/fs/cgroup", child.pid());
  }
  rmdir(dir.c_str());
  if (sample.version == 0) GTEST_SKIP() << "no process may be moved";
  EXPECT_EQ(sample.version, 1);
  EXPECT_EQ(sample.limit_kb, 65536);
  EXPECT_GE(sample.usage_kb, 15 * 1024);
  EXPECT_EQ(sample.oom_kills, 0);
}

}  // namespace
}  // namespace plateau
