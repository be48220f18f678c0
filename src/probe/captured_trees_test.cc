// SPDX-License-Identifier: Apache-2.0
// The probe on captured /proc trees: members, roles, root choice and figures of real jobs, without
// running them. tests/fixtures/proc has a README beside each capture.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "base/files.h"
#include "probe/proc_files.h"
#include "probe/sampler.h"
#include "probe/testing/proc_root.h"

namespace plateau {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

namespace fs = std::filesystem;

fs::path fixtures() {
  return fs::path(PLATEAU_SOURCE_DIR) / "tests/fixtures/proc";
}

ProbeOptions in(const fs::path& proc) {
  ProbeOptions options;
  options.proc = proc.string();
  options.cgroup_root = (proc / "no-cgroups").string();
  options.nvml = "";
  return options;
}

using Told = std::map<pid_t, std::pair<Role, std::string>>;

Told told(const Snapshot& snapshot) {
  Told found;
  for (const ProcessSample& process : snapshot.processes) {
    found[process.key.pid] = {process.role, process.role_reason};
  }
  return found;
}

// Root, and why, from one pid of a case.
std::pair<pid_t, std::string> root_from(const char* name, pid_t pid) {
  const auto sampler = Sampler::of_pid(pid, in(fixtures() / name));
  if (!sampler.ok()) return {-1, sampler.error().message};
  return {sampler.value().root().pid, sampler.value().root_reason()};
}

Snapshot snapshot_from(const char* name, pid_t pid) {
  auto sampler = Sampler::of_pid(pid, in(fixtures() / name));
  if (!sampler.ok()) return {};
  sampler.value().want_walk();
  return sampler.value().sample(0);
}

TEST(CapturedTrees, TrainerWithForkedWorkersUnderAShellCommand) {
  const Snapshot snapshot = snapshot_from("forked-workers", 20172);
  EXPECT_THAT(
      told(snapshot),
      ElementsAre(Pair(20170, Pair(Role::wrapper, "runs sh -c, has children")),
                  Pair(20172, Pair(Role::main, "Python under sh -c")),
                  Pair(20176, Pair(Role::data_worker, "forked by pid 20172, same command line")),
                  Pair(20177, Pair(Role::data_worker, "forked by pid 20172, same command line")),
                  Pair(20178, Pair(Role::data_worker, "forked by pid 20172, same command line"))));
}

TEST(CapturedTrees, ShellCommandIsTheRootFromEveryPidOfItsJob) {
  const std::string stop = "its parent is a shell (bash)";
  EXPECT_THAT(root_from("forked-workers", 20178),
              Pair(20170, "2 steps above 20178 (python train.py); " + stop));
  EXPECT_THAT(root_from("forked-workers", 20172),
              Pair(20170, "one step above 20172 (python train.py); " + stop));
  EXPECT_THAT(root_from("forked-workers", 20170), Pair(20170, stop));
}

TEST(CapturedTrees, TrainerUnderUvRun) {
  const Snapshot snapshot = snapshot_from("uv-run", 20294);
  EXPECT_THAT(
      told(snapshot),
      ElementsAre(Pair(20286, Pair(Role::wrapper, "runs uv, has children")),
                  Pair(20291, Pair(Role::main, "Python under uv")),
                  Pair(20292, Pair(Role::data_worker, "forked by pid 20291, same command line")),
                  Pair(20293, Pair(Role::data_worker, "forked by pid 20291, same command line")),
                  Pair(20294, Pair(Role::data_worker, "forked by pid 20291, same command line"))));
}

TEST(CapturedTrees, UvIsTheRootFromAWorkerAndFromItself) {
  EXPECT_THAT(root_from("uv-run", 20292),
              Pair(20286, HasSubstr("2 steps above 20292 (python train.py)")));
  EXPECT_THAT(root_from("uv-run", 20286), Pair(20286, "its parent is a shell (bash)"));
}

TEST(CapturedTrees, OrphanIsFoundByTheGroupOfTheJob) {
  const Snapshot snapshot = snapshot_from("orphan", 20401);
  EXPECT_THAT(
      told(snapshot),
      ElementsAre(Pair(20401, Pair(Role::main, "the topmost process")),
                  Pair(20408, Pair(Role::orphan,
                                   "lost its parent; is in process group 20401 of the job"))));
}

TEST(CapturedTrees, NothingLeadsFromAnOrphanBackToItsJob) {
  EXPECT_THAT(root_from("orphan", 20408), Pair(20408, "its parent is init"));
}

TEST(CapturedTrees, SpawnedPoolIsTheMainsWorkersAndAHelper) {
  const Snapshot snapshot = snapshot_from("spawn-pool", 20490);
  EXPECT_THAT(
      told(snapshot),
      ElementsAre(Pair(20490, Pair(Role::main, "the topmost process")),
                  Pair(20495, Pair(Role::helper, "runs python multiprocessing.resource_tracker")),
                  Pair(20496, Pair(Role::data_worker, "spawned by Python's multiprocessing")),
                  Pair(20497, Pair(Role::data_worker, "spawned by Python's multiprocessing"))));
}

TEST(CapturedTrees, SpawnedWorkerLeadsToTheProcessThatMadeThePool) {
  EXPECT_THAT(
      root_from("spawn-pool", 20497),
      Pair(20490,
           "one step above 20497 (python multiprocessing.spawn); its parent is a shell (bash)"));
}

TEST(CapturedTrees, CompilePoolIsCompileWorkersAll) {
  const Snapshot snapshot = snapshot_from("compile-worker", 20603);
  const Told roles = told(snapshot);
  ASSERT_EQ(roles.size(), 6u);
  EXPECT_EQ(roles.at(20603).first, Role::main);
  for (pid_t pid = 20608; pid <= 20612; ++pid) {
    EXPECT_THAT(roles.at(pid), Pair(Role::compile_worker, "runs torch's compile_worker")) << pid;
  }
  EXPECT_EQ(root_from("compile-worker", 20612).first, 20603);
}

TEST(CapturedTrees, ReusedPidIsGoneAndItsNewOwnerNoMember) {
  // The capture is copied, because the kernel changes a pid's files in place.
  const ProcRoot proc;
  fs::copy(fixtures() / "forked-workers", proc.path(),
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  auto sampler = Sampler::of_pid(20170, in(proc.path()));
  ASSERT_TRUE(sampler.ok());
  ASSERT_EQ(sampler.value().sample(0).processes.size(), 5u);

  fs::copy(fixtures() / "pid-reuse", proc.path(),
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  const Snapshot after = sampler.value().sample(1);
  const Snapshot later = sampler.value().sample(100);

  ASSERT_EQ(after.gone.size(), 1u);
  EXPECT_EQ(after.gone[0].pid, 20177);
  EXPECT_FALSE(told(after).contains(20177));
  EXPECT_FALSE(told(later).contains(20177));
  EXPECT_EQ(later.processes.size(), 4u);
  EXPECT_THAT(later.gone, IsEmpty());
  // And the shell that has the pid now is no way into the job.
  EXPECT_EQ(Sampler::of_pid(20177, in(proc.path())).value().root().pid, 20177);
}

TEST(CapturedTrees, FiguresOfEveryMemberAddUp) {
  for (const auto& [name, pid] :
       {std::pair("forked-workers", 20170), std::pair("uv-run", 20286), std::pair("orphan", 20401),
        std::pair("spawn-pool", 20490), std::pair("compile-worker", 20603)}) {
    const Snapshot snapshot = snapshot_from(name, pid);
    EXPECT_TRUE(snapshot.walked);
    EXPECT_THAT(snapshot.complaints, IsEmpty());
    EXPECT_GT(snapshot.system_total_kb, snapshot.system_available_kb);
    for (const ProcessSample& process : snapshot.processes) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(process.key.pid));
      EXPECT_EQ(process.rss_kb, process.anon_kb + process.file_kb + process.shmem_kb);
      EXPECT_GE(process.pss_kb, process.uss_kb);
      EXPECT_NEAR(
          static_cast<double>(process.pss_kb),
          static_cast<double>(process.pss_anon_kb + process.pss_file_kb + process.pss_shmem_kb), 4);
      EXPECT_EQ(process.swap_kb, 0);
      EXPECT_GE(process.threads, 1);
      // A capture has no fd directory: not known, and nothing to complain about.
      EXPECT_EQ(process.fds, kUnread);
      EXPECT_EQ(process.shmem_unmapped_kb, kUnread);
    }
  }
}

TEST(CapturedTrees, OwnedMemoryIsWhatTheScriptsHold) {
  // The trainer holds 20 MB, which its workers share; each of them holds 2 MB alone.
  for (const ProcessSample& process : snapshot_from("uv-run", 20286).processes) {
    if (process.role != Role::data_worker) continue;
    EXPECT_GE(process.anon_kb, 22 * 1024);
    EXPECT_GE(process.uss_kb, 2 * 1024);
    EXPECT_LT(process.uss_kb, 6 * 1024);
    EXPECT_LT(process.pss_anon_kb, 12 * 1024);
  }
}

TEST(CapturedTrees, EveryFileOfEveryCaptureParses) {
  size_t processes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fixtures())) {
    if (entry.path().filename() != "smaps_rollup") continue;
    const fs::path dir = entry.path().parent_path();
    SCOPED_TRACE(dir.string());
    ++processes;
    const std::string stat_text = text_of_file(dir / "stat");
    const auto stat = parse_stat(stat_text);
    ASSERT_TRUE(stat.has_value());
    EXPECT_EQ(std::to_string(stat->pid), dir.filename().string());
    EXPECT_EQ(std::string(stat->comm) + "\n", text_of_file(dir / "comm"));
    EXPECT_GT(stat->start_stack, 0u);
    const ProcStatus status = parse_status(text_of_file(dir / "status"));
    EXPECT_EQ(status.tgid, stat->pid);
    EXPECT_EQ(status.ppid, stat->ppid);
    EXPECT_EQ(status.threads, stat->threads);
    EXPECT_EQ(status.rss_kb, status.anon_kb + status.file_kb + status.shmem_kb);
    const Statm statm = parse_statm(text_of_file(dir / "statm"));
    EXPECT_EQ(statm.resident * 4, status.rss_kb);
    EXPECT_EQ(statm.shared * 4, status.file_kb + status.shmem_kb);
    EXPECT_GT(parse_smaps_rollup(text_of_file(entry.path())).pss_kb, 0);
    const std::string cmdline = text_of_file(dir / "cmdline");
    EXPECT_FALSE(parse_cmdline(cmdline).empty());
    const std::string cgroup = text_of_file(dir / "cgroup");
    EXPECT_EQ(parse_cgroup(cgroup).size(), 10u);
  }
  EXPECT_EQ(processes, 8u + 7u + 4u + 6u + 7u + 1u);
}

}  // namespace
}  // namespace plateau
