// SPDX-License-Identifier: Apache-2.0
// Which processes make up a job, and what each of them does: root, members, orphans, roles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "probe/orphans.h"
#include "probe/sampler.h"
#include "probe/testing/proc_root.h"

namespace plateau {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ProbeOptions in(const ProcRoot& proc) {
  ProbeOptions options;
  options.proc = proc.path();
  options.cgroup_root = proc.path() + "/cgroup";
  options.nvml = "";
  return options;
}

std::map<pid_t, Role> roles(const ProcRoot& proc, pid_t pid) {
  auto sampler = Sampler::of_pid(pid, in(proc));
  std::map<pid_t, Role> found;
  if (!sampler.ok()) return found;
  for (const ProcessSample& sample : sampler.value().sample(0).processes) {
    found[sample.key.pid] = sample.role;
  }
  return found;
}

pid_t root_of(const ProcRoot& proc, pid_t pid) {
  const auto sampler = Sampler::of_pid(pid, in(proc));
  return sampler.ok() ? sampler.value().root().pid : -1;
}

// A login shell, `uv run`, a trainer with two workers and a tracker.
void make_uv_job(const ProcRoot& proc) {
  proc.process({.pid = 50, .ppid = 40, .command = "-bash", .session = 50, .image = 1});
  proc.process({.pid = 100,
                .ppid = 50,
                .command = "uv run train.py",
                .pgrp = 100,
                .session = 50,
                .image = 2});
  proc.process({.pid = 101,
                .ppid = 100,
                .command = "python train.py",
                .pgrp = 100,
                .session = 50,
                .image = 3,
                .anon_kb = 90000});
  proc.process({.pid = 102,
                .ppid = 101,
                .command = "python train.py",
                .pgrp = 100,
                .session = 50,
                .image = 3});
  proc.process({.pid = 103,
                .ppid = 101,
                .command = "python train.py",
                .pgrp = 100,
                .session = 50,
                .image = 3});
  proc.process({.pid = 104, .ppid = 101, .command = "wandb-core --port 1", .image = 4});
}

TEST(Job, AnyMemberLeadsToTheWrapperBelowTheShell) {
  const ProcRoot proc;
  make_uv_job(proc);
  EXPECT_EQ(root_of(proc, 103), 100);
  EXPECT_EQ(root_of(proc, 101), 100);
  EXPECT_EQ(root_of(proc, 100), 100);
  const auto sampler = Sampler::of_pid(103, in(proc));
  EXPECT_THAT(sampler.value().root_reason(), HasSubstr("2 steps above 103 (python train.py)"));
  EXPECT_THAT(sampler.value().root_reason(), HasSubstr("shell"));
}

// The kernel has taken its memory: no addresses, no command line.
TEST(Job, ProcessOnItsWayOutKeepsItsNameAndItsWorkersTheirs) {
  const ProcRoot proc;
  make_uv_job(proc);
  auto sampler = Sampler::of_pid(101, in(proc));
  ASSERT_TRUE(sampler.ok());
  sampler.value().sample(0);
  proc.process({.pid = 101, .ppid = 100, .command = "", .pgrp = 100, .session = 50, .image = 0});
  proc.write("101/cmdline", "");
  for (const ProcessSample& sample : sampler.value().sample(1).processes) {
    if (sample.key.pid == 101) {
      EXPECT_EQ(sample.name, "python train.py");
    }
    if (sample.key.pid == 102) {
      EXPECT_EQ(sample.role, Role::data_worker);
    }
  }
}

TEST(Job, RolesOfATrainerUnderUv) {
  const ProcRoot proc;
  make_uv_job(proc);
  EXPECT_THAT(roles(proc, 101),
              ElementsAre(std::pair(100, Role::wrapper), std::pair(101, Role::main),
                          std::pair(102, Role::data_worker), std::pair(103, Role::data_worker),
                          std::pair(104, Role::helper)));
}

TEST(Job, RanksUnderTorchrunAreMainAndKeepTheirWorkers) {
  const ProcRoot proc;
  proc.process({.pid = 10, .ppid = 1, .command = "python /v/bin/torchrun t.py", .image = 1});
  proc.process({.pid = 11, .ppid = 10, .command = "python -u t.py", .image = 2});
  proc.process({.pid = 12, .ppid = 10, .command = "python -u t.py", .image = 3});
  proc.process({.pid = 13, .ppid = 11, .command = "python -u t.py", .image = 2});
  proc.process({.pid = 14,
                .ppid = 12,
                .command = "python /v/torch/_inductor/compile_worker/__main__.py",
                .image = 4});
  EXPECT_THAT(roles(proc, 13),
              ElementsAre(std::pair(10, Role::wrapper), std::pair(11, Role::main),
                          std::pair(12, Role::main), std::pair(13, Role::data_worker),
                          std::pair(14, Role::compile_worker)));
}

TEST(Job, NotebookServerIsNotPartOfItsKernelsJob) {
  const ProcRoot proc;
  proc.process({.pid = 10, .ppid = 1, .command = "python /usr/bin/jupyter-lab"});
  proc.process({.pid = 11, .ppid = 10, .command = "python -m ipykernel_launcher", .image = 2});
  EXPECT_EQ(root_of(proc, 11), 11);
}

TEST(Job, ParentYoungerThanItsChildIsAReusedPid) {
  const ProcRoot proc;
  proc.process({.pid = 10, .ppid = 1, .command = "uv run other.py", .start = 5000});
  proc.process({.pid = 11, .ppid = 10, .command = "python train.py", .start = 1000});
  EXPECT_EQ(root_of(proc, 11), 11);
  EXPECT_THAT(roles(proc, 10), ElementsAre(std::pair(10, Role::wrapper)));
}

TEST(Orphans, WorkerInTheJobsGroupIsFoundAgain) {
  const ProcRoot proc;
  make_uv_job(proc);
  proc.process({.pid = 1, .ppid = 0, .command = "init", .start = 1});
  proc.process({.pid = 105,
                .ppid = 1,
                .command = "python train.py",
                .pgrp = 100,
                .session = 50,
                .image = 3});
  EXPECT_EQ(roles(proc, 101)[105], Role::orphan);
}

TEST(Orphans, LoginSessionDoesNotMakeKin) {
  const ProcRoot proc;
  make_uv_job(proc);
  proc.process({.pid = 1, .ppid = 0, .command = "init", .start = 1});
  // Another background job of the same shell, its parent gone; and a command beside ours.
  proc.process({.pid = 201, .ppid = 1, .command = "python other.py", .pgrp = 200, .session = 50});
  proc.process({.pid = 202, .ppid = 50, .command = "tee log", .pgrp = 100, .session = 50});
  const auto found = roles(proc, 101);
  EXPECT_FALSE(found.contains(201));
  EXPECT_FALSE(found.contains(202));
}

TEST(Orphans, CgroupOfTheJobAloneMakesKin) {
  const ProcRoot proc;
  const std::string own = "0::/system.slice/train.service\n";
  proc.process({.pid = 1, .ppid = 0, .command = "init", .start = 1});
  proc.process(
      {.pid = 10, .ppid = 1, .command = "python t.py", .pgrp = 10, .session = 10, .cgroup = own});
  proc.process({.pid = 20,
                .ppid = 1,
                .command = "python t.py",
                .pgrp = 20,
                .session = 20,
                .start = 2000,
                .cgroup = own});
  EXPECT_EQ(roles(proc, 10)[20], Role::orphan);

  // Somebody else's live process in the same group: it is no longer the job's own.
  proc.process({.pid = 30,
                .ppid = 1,
                .command = "-bash",
                .pgrp = 30,
                .session = 30,
                .start = 500,
                .cgroup = own});
  EXPECT_FALSE(roles(proc, 10).contains(20));
}

TEST(Orphans, LoginAndUserCgroupsAreNobodysOwn) {
  for (const char* path : {"/", "", "/user.slice", "/user.slice/user-1000.slice/session-3.scope",
                           "/user.slice/user-1000.slice/user@1000.service", "/init.scope"}) {
    EXPECT_FALSE(may_be_a_jobs_cgroup(path)) << path;
  }
  EXPECT_TRUE(may_be_a_jobs_cgroup("/system.slice/train.service"));
  EXPECT_TRUE(may_be_a_jobs_cgroup("/slurm/uid_1/job_2/step_0"));
}

TEST(FindTraining, LargestPythonJobIsMeantWhicheverProcessHoldsIt) {
  const ProcRoot proc;
  make_uv_job(proc);
  proc.process({.pid = 300, .ppid = 1, .command = "python small.py", .anon_kb = 9000});
  proc.process({.pid = 301, .ppid = 1, .command = "postgres", .anon_kb = 900000});
  const auto found = find_training(in(proc));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found.value(), 101);
}

TEST(FindTraining, TorchCountsForMoreThanSize) {
  const ProcRoot proc;
  proc.process({.pid = 10, .ppid = 1, .command = "python notebook.py", .anon_kb = 90000});
  proc.process({.pid = 11, .ppid = 1, .command = "python t.py", .anon_kb = 70000});
  proc.write("11/maps", "7f-80 r-xp 0 08:01 5 /v/libtorch_cpu.so\n");
  const auto found = find_training(in(proc));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value(), 11);
}

TEST(FindTraining, AboutEqualJobsAreListed) {
  const ProcRoot proc;
  proc.process({.pid = 10, .ppid = 1, .command = "python a.py", .anon_kb = 90000});
  proc.process({.pid = 11, .ppid = 1, .command = "python b.py", .anon_kb = 80000});
  const auto found = find_training(in(proc));
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr("10 (python a.py"));
  EXPECT_THAT(found.error().message, HasSubstr("11 (python b.py"));
}

TEST(TrainingSearch, FindsEveryJobWithAFrameworkAndNoOther) {
  const ProcRoot proc;
  proc.process({.pid = 10, .ppid = 1, .command = "python notebook.py", .anon_kb = 90000});
  proc.process({.pid = 11, .ppid = 1, .command = "python t.py", .anon_kb = 70000});
  proc.process({.pid = 12, .ppid = 1, .command = "python later.py", .anon_kb = 60000});
  proc.process({.pid = 13, .ppid = 1, .command = "postgres", .anon_kb = 900000});
  proc.write("11/maps", "7f-80 r-xp 0 08:01 5 /v/libtorch_cpu.so\n");
  TrainingSearch search(in(proc));
  const auto pids = [&search](double now_s) {
    std::vector<pid_t> found;
    for (const TrainingJob& job : search.look(now_s)) found.push_back(job.pid);
    return found;
  };
  EXPECT_EQ(pids(0), (std::vector<pid_t>{11}));
  // One that imports it later is found at the next look that is due, and stays found.
  proc.write("12/maps", "7f-80 r-xp 0 08:01 5 /v/jaxlib/xla.so\n");
  EXPECT_EQ(pids(5), (std::vector<pid_t>{11}));
  EXPECT_EQ(pids(11), (std::vector<pid_t>{11, 12}));
  proc.write("11/maps", "");
  EXPECT_EQ(pids(400), (std::vector<pid_t>{11, 12}));
}

TEST(FindTraining, NoPythonIsSaid) {
  const ProcRoot proc;
  EXPECT_FALSE(find_training(in(proc)).ok());
}

}  // namespace
}  // namespace plateau
