// SPDX-License-Identifier: Apache-2.0
#include "probe/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

#include "probe/testing/live_process.h"

namespace plateau {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ProbeOptions quiet() {
  ProbeOptions options;
  options.nvml = "";
  options.follow_orphans = false;
  return options;
}

Sampler watch(pid_t pid, const ProbeOptions& options) {
  auto sampler = Sampler::of_pid(pid, options, true);
  EXPECT_TRUE(sampler.ok());
  return std::move(sampler.value());
}

const ProcessSample* sample_of(const Snapshot& snapshot, pid_t pid) {
  const auto at =
      std::find_if(snapshot.processes.begin(), snapshot.processes.end(),
                   [pid](const ProcessSample& sample) { return sample.key.pid == pid; });
  return at == snapshot.processes.end() ? nullptr : &*at;
}

TEST(Sampler, NoSuchProcessIsAnErrorThatSaysWhatToTry) {
  const auto sampler = Sampler::of_pid(0x7ffffff0, quiet());
  ASSERT_FALSE(sampler.ok());
  EXPECT_EQ(sampler.error().kind, Error::Kind::not_found);
  EXPECT_THAT(sampler.error().message, HasSubstr("no such process"));
  EXPECT_THAT(sampler.error().message, HasSubstr("ps -eo"));
}

TEST(Sampler, FiguresOfOneProcessAddUp) {
  LiveProcess child([](Signal& ready) {
    Ballast ballast(64);
    ready.raise();
    pause();
  });
  Sampler sampler = watch(child.pid(), quiet());
  const Snapshot snapshot = sampler.sample(0);
  ASSERT_EQ(snapshot.processes.size(), 1u);
  const ProcessSample& process = snapshot.processes[0];
  EXPECT_EQ(process.key, sampler.root());
  EXPECT_EQ(process.parent, getpid());
  EXPECT_EQ(process.rss_kb, process.anon_kb + process.file_kb + process.shmem_kb);
  EXPECT_GE(process.anon_kb, 64 * 1024);
  EXPECT_EQ(process.threads, 1);
  EXPECT_GT(process.fds, 2);
  EXPECT_TRUE(snapshot.walked);
  EXPECT_GE(process.pss_kb, 64 * 1024);
  EXPECT_GE(process.uss_kb, 64 * 1024);
  EXPECT_NEAR(static_cast<double>(process.pss_kb),
              static_cast<double>(process.pss_anon_kb + process.pss_file_kb + process.pss_shmem_kb),
              4);
  EXPECT_GT(snapshot.system_total_kb, snapshot.system_available_kb);
  EXPECT_EQ(snapshot.cost.ticks, 1u);
  EXPECT_EQ(snapshot.cost.walks, 1u);
  EXPECT_GT(snapshot.cost.walks_s, 0);
}

TEST(Sampler, ChildBornBetweenTicksIsAMemberAndADataWorker) {
  LiveProcess parent([](Signal& ready) {
    ready.raise();
    ready.wait_for_parent();
    LiveProcess worker([](Signal& up) {
      up.raise();
      pause();
    });
    ready.raise();
    pause();
  });
  Sampler sampler = watch(parent.pid(), quiet());
  EXPECT_EQ(sampler.sample(0).processes.size(), 1u);

  parent.tell();
  parent.wait();
  const Snapshot snapshot = sampler.sample(1);

  ASSERT_EQ(snapshot.processes.size(), 2u);
  EXPECT_EQ(snapshot.processes[0].key, sampler.root());
  EXPECT_EQ(snapshot.processes[0].role, Role::main);
  EXPECT_EQ(snapshot.processes[1].parent, parent.pid());
  EXPECT_EQ(snapshot.processes[1].role, Role::data_worker);
  EXPECT_THAT(snapshot.processes[1].role_reason, HasSubstr("forked by pid"));
}

TEST(Sampler, GrowthBetweenTwoLooksAtStatusIsSeenAtOnce) {
  // Given ticks 0.1 s apart, so that status is not due.
  LiveProcess child([](Signal& ready) {
    ready.raise();
    ready.wait_for_parent();
    const Ballast own(32);
    ready.raise();
    ready.wait_for_parent();
    void* shared =
        mmap(nullptr, 16 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    std::memset(shared, 1, 16 << 20);
    ready.raise();
    pause();
  });
  Sampler sampler = watch(child.pid(), quiet());
  const ProcessSample before = sampler.sample(0).processes.at(0);

  child.tell();
  child.wait();
  const ProcessSample private_more = sampler.sample(0.1).processes.at(0);
  child.tell();
  child.wait();
  const ProcessSample shared_more = sampler.sample(0.2).processes.at(0);

  EXPECT_NEAR(static_cast<double>(private_more.anon_kb - before.anon_kb), 32 * 1024, 512);
  EXPECT_EQ(private_more.rss_kb,
            private_more.anon_kb + private_more.file_kb + private_more.shmem_kb);
  EXPECT_EQ(shared_more.shmem_kb - before.shmem_kb, 16 * 1024);
  EXPECT_EQ(shared_more.rss_kb, shared_more.anon_kb + shared_more.file_kb + shared_more.shmem_kb);
}

TEST(Sampler, GrandchildrenAreMembersToo) {
  LiveProcess parent([](Signal& ready) {
    LiveProcess worker([](Signal& up) {
      LiveProcess deep([](Signal& low) {
        low.raise();
        pause();
      });
      up.raise();
      pause();
    });
    ready.raise();
    pause();
  });
  Sampler sampler = watch(parent.pid(), quiet());
  EXPECT_EQ(sampler.sample(0).processes.size(), 3u);
}

TEST(Sampler, ExcludedProcessesAndTheirChildrenAreNoMembers) {
  LiveProcess parent([](Signal& ready) {
    LiveProcess worker([](Signal& up) {
      LiveProcess deep([](Signal& low) {
        low.raise();
        pause();
      });
      up.raise();
      pause();
    });
    ready.say(worker.pid());
    ready.raise();
    pause();
  });
  ProbeOptions options = quiet();
  options.exclude = {parent.said()};
  Sampler sampler = watch(parent.pid(), options);
  EXPECT_EQ(sampler.sample(0).processes.size(), 1u);
}

TEST(Sampler, EndedProcessesAreGoneOnceAndAnEmptySnapshotMeansTheEnd) {
  LiveProcess child([](Signal& ready) {
    ready.raise();
    pause();
  });
  Sampler sampler = watch(child.pid(), quiet());
  const ProcessKey key = sampler.root();
  EXPECT_EQ(sampler.sample(0).processes.size(), 1u);

  child.end();
  const Snapshot after = sampler.sample(1);
  const Snapshot later = sampler.sample(2);

  EXPECT_THAT(after.processes, IsEmpty());
  EXPECT_THAT(after.gone, ElementsAre(key));
  EXPECT_THAT(later.processes, IsEmpty());
  EXPECT_THAT(later.gone, IsEmpty());
}

TEST(Sampler, ProcessThatEndsBetweenTwoLooksAtStatIsGoneAtOnce) {
  // Given a root with two workers, and ticks 0.1 s apart: stat is not due.
  LiveProcess parent([](Signal& ready) {
    LiveProcess reaped([](Signal& up) {
      up.raise();
      pause();
    });
    const LiveProcess zombie([](Signal& up) {
      up.raise();
      up.wait_for_parent();
    });
    ready.say(zombie.pid());
    ready.raise();
    ready.wait_for_parent();
    reaped.end();
    ready.raise();
    ready.wait_for_parent();
    zombie.tell();
    zombie.wait_for_zombie();
    ready.raise();
    pause();
  });
  Sampler sampler = watch(parent.pid(), quiet());
  ASSERT_EQ(sampler.sample(0).processes.size(), 3u);
  ASSERT_EQ(sampler.sample(0.1).processes.size(), 3u);

  parent.tell();
  parent.wait();
  const Snapshot one_reaped = sampler.sample(0.2);
  parent.tell();
  parent.wait();
  const Snapshot one_zombie = sampler.sample(0.3);

  EXPECT_EQ(one_reaped.processes.size(), 2u);
  EXPECT_EQ(one_reaped.gone.size(), 1u);
  EXPECT_EQ(one_zombie.processes.size(), 1u);
  ASSERT_EQ(one_zombie.gone.size(), 1u);
  EXPECT_EQ(one_zombie.gone[0].pid, parent.said());
}

TEST(Sampler, ZombieIsGoneThoughNobodyWaitedForIt) {
  LiveProcess child([](Signal& ready) { ready.raise(); });
  child.wait_for_zombie();
  const auto sampler = Sampler::of_pid(child.pid(), quiet(), true);
  ASSERT_FALSE(sampler.ok());
  EXPECT_THAT(sampler.error().message, HasSubstr("has ended"));
}

TEST(Sampler, WorkerWhoseParentDiesStaysAMemberAndKeepsTheParentItHad) {
  // The test is the subreaper, so that the orphan comes to it and not to init.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  LiveProcess top([](Signal& ready) {
    LiveProcess middle([](Signal& up) {
      LiveProcess worker([](Signal& low) {
        outlive_parent();
        low.raise();
        pause();
      });
      up.say(worker.leave());
      up.raise();
      pause();
    });
    ready.say(middle.said());
    ready.raise();
    ready.wait_for_parent();
    middle.end();
    ready.raise();
    pause();
  });
  Sampler sampler = watch(top.pid(), quiet());
  const Snapshot before = sampler.sample(0);
  ASSERT_EQ(before.processes.size(), 3u);
  const pid_t middle = sample_of(before, top.said())->parent;

  top.tell();
  top.wait();
  const Snapshot after = sampler.sample(1);
  const ProcessSample* worker = sample_of(after, top.said());
  ASSERT_GT(top.said(), 1);
  kill(top.said(), SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 0);

  ASSERT_NE(worker, nullptr);
  EXPECT_EQ(after.processes.size(), 2u);
  EXPECT_EQ(worker->parent, middle);
  EXPECT_EQ(worker->role, Role::orphan);
}

TEST(Sampler, FreshForkOwnsNothingUntilItGrows) {
  LiveProcess parent([](Signal& ready) {
    Ballast shared(512);
    LiveProcess worker([](Signal& up) {
      up.raise();
      up.wait_for_parent();
      Ballast own(32);
      up.raise();
      pause();
    });
    ready.say(worker.pid());
    ready.raise();
    ready.wait_for_parent();
    worker.tell();
    worker.wait();
    ready.raise();
    pause();
  });
  ProbeOptions options = quiet();
  Sampler sampler = watch(parent.pid(), options);

  // 1 GB of RSS would take 25 ms to walk: not paid for at the first tick.
  const Snapshot first = sampler.sample(0);
  parent.tell();
  parent.wait();
  const Snapshot second = sampler.sample(1);
  sampler.want_walk();
  const Snapshot walked = sampler.sample(2);

  const pid_t worker = parent.said();
  EXPECT_FALSE(first.walked);
  EXPECT_GE(sample_of(first, worker)->anon_kb, 512 * 1024);
  EXPECT_EQ(sample_of(first, worker)->pss_anon_kb, 0);
  EXPECT_EQ(sample_of(first, worker)->pss_kb, kUnread);
  EXPECT_NEAR(static_cast<double>(sample_of(second, worker)->pss_anon_kb), 32 * 1024, 1024);
  ASSERT_TRUE(walked.walked);
  // Half of what is shared each, and 32 MB more for the worker. The test's own memory is shared
  // with the test too, hence differences and no totals.
  const int64_t parents = sample_of(walked, parent.pid())->pss_anon_kb;
  const int64_t workers = sample_of(walked, worker)->pss_anon_kb;
  EXPECT_NEAR(static_cast<double>(workers - parents), 32 * 1024, 1024);
  EXPECT_GE(parents, 256 * 1024);
  EXPECT_LT(parents, 384 * 1024);
}

}  // namespace
}  // namespace plateau
