// SPDX-License-Identifier: Apache-2.0
// Jobs that are hard to watch: of another user, larger than the descriptors allow, orphaned,
// turning into another program, changing roles as they grow.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "probe/sampler.h"
#include "probe/testing/live_process.h"
#include "probe/testing/proc_root.h"

namespace plateau {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

ProbeOptions quiet(bool follow_orphans = false) {
  ProbeOptions options;
  options.nvml = "";
  options.follow_orphans = follow_orphans;
  return options;
}

const ProcessSample* sample_of(const Snapshot& snapshot, pid_t pid) {
  const auto at =
      std::find_if(snapshot.processes.begin(), snapshot.processes.end(),
                   [pid](const ProcessSample& sample) { return sample.key.pid == pid; });
  return at == snapshot.processes.end() ? nullptr : &*at;
}

// What `body` returns when it runs in a process of its own, whose limits and user it may change.
std::string told_by_child(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(120);
    const std::string told = body();
    _exit(write(ends[1], told.data(), told.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string told(4096, '\0');
  const ssize_t got = read(ends[0], told.data(), told.size());
  told.resize(got > 0 ? static_cast<size_t>(got) : 0);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return told;
}

void sleep_on(Signal& ready) {
  ready.raise();
  pause();
}

TEST(Permission, WhatMayNotBeReadIsSaidOnceAndTheRestIsRead) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  // Given two processes of root and a watcher that is nobody.
  const LiveProcess target([](Signal& ready) {
    const LiveProcess worker(sleep_on);
    sleep_on(ready);
  });
  const std::string told = told_by_child([&target]() -> std::string {
    constexpr uid_t kNobody = 65534;
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) return "setuid";
    auto sampler = Sampler::of_pid(target.pid(), quiet(), true);
    if (!sampler.ok()) return sampler.error().message;
    // When it samples three times, each time with a walk.
    std::string lines;
    for (int second = 0; second < 3; ++second) {
      sampler.value().want_walk();
      const Snapshot snapshot = sampler.value().sample(20 * second);
      lines += fmt::format("{} processes\n", snapshot.processes.size());
      for (const std::string& complaint : snapshot.complaints) lines += complaint + "\n";
      const ProcessSample& root = snapshot.processes[0];
      lines += fmt::format("rss {} pss {} fds {}\n", root.rss_kb > 0, root.pss_kb, root.fds);
    }
    return lines;
  });
  // Then each file is complained of once, at the first sample, for both processes together.
  const std::string name = fmt::format("pid {} (probe_test): ", target.pid());
  EXPECT_EQ(told, "2 processes\n" + name +
                      "smaps_rollup: permission denied; its PSS is not known\n" + name +
                      "fd: permission denied; its open files are not known\n"
                      "rss true pss -1 fds -1\n"
                      "2 processes\nrss true pss -1 fds -1\n"
                      "2 processes\nrss true pss -1 fds -1\n");
}

// A root with eight workers, watched by a process that may have 40 descriptors open: those of five
// processes are kept, the others' files are opened at every tick.
class TreeBeyondTheDescriptors : public testing::Test {
 protected:
  static void limit_descriptors(rlim_t most) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &limit);
  }

  const LiveProcess target_{[](Signal& ready) {
    std::vector<std::unique_ptr<LiveProcess>> workers;
    for (int i = 0; i < 8; ++i) {
      workers.push_back(std::make_unique<LiveProcess>([](Signal& up) {
        const Ballast own(3);
        sleep_on(up);
      }));
    }
    ready.raise();
    ready.wait_for_parent();
    workers.back()->end();
    ready.raise();
    pause();
  }};
};

TEST_F(TreeBeyondTheDescriptors, IsReadByOpeningItsFilesAnew) {
  const std::string told = told_by_child([this]() -> std::string {
    limit_descriptors(40);
    auto sampler = Sampler::of_pid(target_.pid(), quiet(), true);
    if (!sampler.ok()) return sampler.error().message;
    std::string lines;
    for (int second = 0; second < 3; ++second) {
      const Snapshot snapshot = sampler.value().sample(second);
      const auto whole = std::count_if(
          snapshot.processes.begin(), snapshot.processes.end(), [](const ProcessSample& process) {
            return process.anon_kb >= 3 * 1024 && process.pss_kb > 0 && process.fds > 0 &&
                   process.role == Role::data_worker;
          });
      lines += fmt::format("{} workers whole, {} gone, {} complaints\n", whole,
                           snapshot.gone.size(), snapshot.complaints.size());
      if (second != 0) continue;
      // The last worker, whose files are not kept, ends.
      target_.tell();
      while (kill(snapshot.processes.back().key.pid, 0) == 0) usleep(1000);
    }
    return lines;
  });
  EXPECT_EQ(told,
            "8 workers whole, 0 gone, 0 complaints\n"
            "7 workers whole, 1 gone, 0 complaints\n"
            "7 workers whole, 0 gone, 0 complaints\n");
}

TEST_F(TreeBeyondTheDescriptors, IsNotTakenForDeadWhenNoDescriptorIsLeft) {
  const std::string told = told_by_child([this]() -> std::string {
    limit_descriptors(40);
    auto sampler = Sampler::of_pid(target_.pid(), quiet(), true);
    if (!sampler.ok()) return sampler.error().message;
    const size_t before = sampler.value().sample(0).processes.size();
    limit_descriptors(0);
    const Snapshot blind = sampler.value().sample(1);
    limit_descriptors(40);
    const Snapshot after = sampler.value().sample(2);
    return fmt::format("{} {} {}, {} {}", before, blind.processes.size(), after.processes.size(),
                       blind.gone.size(),
                       blind.complaints.empty() ? "nothing" : blind.complaints[0]);
  });
  EXPECT_THAT(told, HasSubstr("9 9 9, 0 pid"));
  EXPECT_THAT(told, HasSubstr("status: too many open files"));
}

// A job, a session of its own, whose loader started a worker and ended before anybody watched; it
// lives below a subreaper, as below `systemd --user`. Says the worker's pid and runs on.
void lead_a_job(Signal& ready, const std::function<void()>& as_loader,
                const std::function<void()>& as_worker) {
  setsid();
  LiveProcess loader([&](Signal& up) {
    as_loader();
    LiveProcess worker([&as_worker](Signal& low) {
      outlive_parent();
      as_worker();
      sleep_on(low);
    });
    up.say(worker.leave());
    up.raise();
    pause();
  });
  ready.say(loader.said());
  loader.end();
  ready.raise();
  pause();
}

void nothing() {}
void lead_a_group() {
  setpgid(0, 0);
}

struct OrphanedJob {
  explicit OrphanedJob(const std::function<void()>& as_loader) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    reaper = std::make_unique<LiveProcess>([&](Signal& ready) {
      prctl(PR_SET_CHILD_SUBREAPER, 1);
      const LiveProcess job([&](Signal& up) { lead_a_job(up, as_loader, nothing); });
      const pid_t pids[] = {job.pid(), job.said()};
      if (write(ends[1], pids, sizeof pids) != sizeof pids) return;
      sleep_on(ready);
    });
    pid_t pids[2] = {};
    if (read(ends[0], pids, sizeof pids) == sizeof pids) {
      leader = pids[0];
      worker = pids[1];
    }
    close(ends[0]);
    close(ends[1]);
  }
  OrphanedJob(const OrphanedJob&) = delete;
  OrphanedJob& operator=(const OrphanedJob&) = delete;
  ~OrphanedJob() {
    if (worker > 1) kill(worker, SIGKILL);
  }

  std::unique_ptr<LiveProcess> reaper;
  pid_t leader = 0;
  pid_t worker = 0;
};

std::string orphan_reason(const OrphanedJob& job) {
  auto sampler = Sampler::of_pid(job.leader, quiet(true), true);
  if (!sampler.ok()) return sampler.error().message;
  const Snapshot snapshot = sampler.value().sample(0);
  const ProcessSample* worker = sample_of(snapshot, job.worker);
  if (worker == nullptr) return "not found";
  return worker->role == Role::orphan ? worker->role_reason : "no orphan";
}

TEST(LiveOrphans, WorkerUnderASubreaperIsFoundByTheGroupOfTheJob) {
  const OrphanedJob job(nothing);
  EXPECT_EQ(orphan_reason(job),
            fmt::format("lost its parent; is in process group {} of the job", job.leader));
}

TEST(LiveOrphans, WorkerInAGroupThatNobodyLeadsIsFoundByTheSessionOfTheJob) {
  const OrphanedJob job(lead_a_group);
  EXPECT_EQ(orphan_reason(job),
            fmt::format("lost its parent; is in session {} of the job", job.leader));
}

TEST(LiveOrphans, IsNotFollowedUnlessAskedFor) {
  const OrphanedJob job(nothing);
  auto sampler = Sampler::of_pid(job.leader, quiet(false), true);
  ASSERT_TRUE(sampler.ok());
  EXPECT_EQ(sampler.value().sample(0).processes.size(), 1u);
}

TEST(LiveOrphans, WorkerThatLeftGroupAndSessionComesToAWatcherThatIsASubreaper) {
  const std::string told = told_by_child([]() -> std::string {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const LiveProcess job([](Signal& up) { lead_a_job(up, nothing, [] { setsid(); }); });
    auto sampler = Sampler::of_pid(job.pid(), quiet(true), true);
    if (!sampler.ok()) return sampler.error().message;
    const Snapshot snapshot = sampler.value().sample(0);
    const ProcessSample* worker = sample_of(snapshot, job.said());
    const std::string reason = worker == nullptr ? "not found" : worker->role_reason;
    if (job.said() > 1) kill(job.said(), SIGKILL);
    return reason;
  });
  EXPECT_EQ(told, "was handed to the watcher when its parent ended");
}

TEST(Exec, WorkerThatTurnsIntoAnotherProgramGetsItsNameRoleAndOwnMemory) {
  // Given a trainer with a worker that shares 64 MB with it. The pipe closes when it executes.
  int executed[2];
  ASSERT_EQ(pipe2(executed, O_CLOEXEC), 0);
  LiveProcess trainer([&executed](Signal& ready) {
    const Ballast shared(64);
    close(executed[0]);
    const LiveProcess worker([](Signal& up) {
      up.raise();
      up.wait_for_parent();
      execl("/bin/sleep", "sleep", "60", nullptr);
    });
    close(executed[1]);
    ready.say(worker.pid());
    ready.raise();
    ready.wait_for_parent();
    worker.tell();
    pause();
  });
  close(executed[1]);
  auto sampler = Sampler::of_pid(trainer.pid(), quiet(), true);
  ASSERT_TRUE(sampler.ok());
  const Snapshot before = sampler.value().sample(0);

  // When it does.
  trainer.tell();
  char byte = 0;
  ASSERT_EQ(read(executed[0], &byte, 1), 0);
  close(executed[0]);
  const Snapshot after = sampler.value().sample(1);

  // Then it is the same process with another name, another role, and nothing shared.
  const ProcessSample* worker = sample_of(before, trainer.said());
  const ProcessSample* sleeper = sample_of(after, trainer.said());
  ASSERT_NE(worker, nullptr);
  ASSERT_NE(sleeper, nullptr);
  EXPECT_EQ(worker->role, Role::data_worker);
  EXPECT_GE(worker->anon_kb, 64 * 1024);
  EXPECT_EQ(sleeper->key, worker->key);
  EXPECT_EQ(sleeper->name, "sleep");
  EXPECT_EQ(sleeper->role, Role::helper);
  EXPECT_EQ(sleeper->role_reason, "runs sleep");
  EXPECT_LT(sleeper->anon_kb, 8 * 1024);
  EXPECT_LT(sleeper->pss_anon_kb, 8 * 1024);
  EXPECT_THAT(after.gone, IsEmpty());
}

ProbeOptions in(const ProcRoot& proc) {
  ProbeOptions options = quiet(true);
  options.proc = proc.path();
  options.cgroup_root = proc.path() + "/cgroup";
  return options;
}

TEST(Growth, LauncherThatComesToHoldMoreThanItsChildrenIsMainAndStaysIt) {
  const ProcRoot proc;
  const auto uv_holds = [&proc](int64_t anon_kb) {
    proc.process({.pid = 10, .ppid = 1, .command = "uv run t.py", .image = 1, .anon_kb = anon_kb});
  };
  uv_holds(900 << 10);
  proc.process({.pid = 11, .ppid = 10, .command = "python t.py", .image = 2, .anon_kb = 1000});
  auto sampler = Sampler::of_pid(10, in(proc));
  ASSERT_TRUE(sampler.ok());

  const Snapshot small = sampler.value().sample(0);
  uv_holds(1100 << 10);
  const Snapshot large = sampler.value().sample(1);
  uv_holds(10 << 10);
  const Snapshot again = sampler.value().sample(2);

  EXPECT_EQ(small.processes[0].role, Role::wrapper);
  EXPECT_EQ(large.processes[0].role, Role::main);
  EXPECT_EQ(large.processes[0].role_reason, "a launcher that holds more than its children");
  EXPECT_EQ(again.processes[0].role, Role::main);
}

TEST(Growth, LauncherWhoseChildHoldsMoreStaysAWrapper) {
  const ProcRoot proc;
  proc.process({.pid = 10, .ppid = 1, .command = "uv run t.py", .image = 1, .anon_kb = 1100 << 10});
  proc.process(
      {.pid = 11, .ppid = 10, .command = "python t.py", .image = 2, .anon_kb = 1200 << 10});
  auto sampler = Sampler::of_pid(10, in(proc));
  ASSERT_TRUE(sampler.ok());
  EXPECT_EQ(sampler.value().sample(0).processes[0].role, Role::wrapper);
}

TEST(Growth, ProgramThatOutgrowsThePythonThatStartedItIsMain) {
  const ProcRoot proc;
  proc.process({.pid = 10, .ppid = 1, .command = "python t.py", .image = 1, .anon_kb = 50 << 10});
  const auto engine_holds = [&proc](int64_t anon_kb) {
    proc.process(
        {.pid = 11, .ppid = 10, .command = "./engine --gpu", .image = 2, .anon_kb = anon_kb});
  };
  engine_holds(140 << 10);
  auto sampler = Sampler::of_pid(10, in(proc));
  ASSERT_TRUE(sampler.ok());

  const Snapshot before = sampler.value().sample(0);
  engine_holds(160 << 10);
  const Snapshot after = sampler.value().sample(1);

  EXPECT_EQ(before.processes[1].role, Role::helper);
  EXPECT_EQ(before.processes[1].role_reason, "started by pid 10");
  EXPECT_EQ(after.processes[1].role, Role::main);
  EXPECT_EQ(after.processes[1].role_reason, "holds more than its parent 10");
  EXPECT_EQ(after.processes[0].role, Role::main);
}

}  // namespace
}  // namespace plateau
