// SPDX-License-Identifier: Apache-2.0
#include "session/journal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "recording/checks_for_test.h"
#include "session/testing/child.h"

namespace plateau {
namespace {

using testing::Contains;
using testing::ElementsAre;

Journal in_memory() {
  return Journal(std::move(RecordingWriter::create("", RecordingHead()).value()));
}

ProcessSample process(pid_t pid, int64_t anon_kb) {
  ProcessSample sample;
  sample.key = {pid, 100};
  sample.name = "python train.py";
  sample.role = Role::main;
  sample.rss_kb = anon_kb + 100;
  sample.anon_kb = anon_kb;
  sample.file_kb = 100;
  sample.shmem_kb = 0;
  sample.swap_kb = 0;
  sample.threads = 4;
  return sample;
}

Snapshot snapshot(std::vector<ProcessSample> processes) {
  Snapshot made;
  made.processes = std::move(processes);
  return made;
}

StepWords words(std::string_view line) {
  return parse_step_words(line).value();
}

const Series* series(const Run& run, size_t process, Metric metric) {
  const auto at = std::find_if(run.series.begin(), run.series.end(), [&](const Series& column) {
    return column.process == process && column.metric == metric;
  });
  return at == run.series.end() ? nullptr : &*at;
}

const Gauge* gauge(const Run& run, std::string_view name) {
  const auto at = std::find_if(run.gauges.begin(), run.gauges.end(),
                               [&](const Gauge& column) { return column.name == name; });
  return at == run.gauges.end() ? nullptr : &*at;
}

LineClock::News line(int64_t step, double epoch = kMissing) {
  LineClock::News news;
  news.step = step;
  news.epoch = epoch;
  return news;
}

TEST(Journal, EveryProcessHasColumnsFromWhenItIsSeen) {
  Journal journal = in_memory();
  journal.sample(snapshot({process(7, 1000)}), 0.1);
  journal.sample(snapshot({process(7, 2000), process(8, 500)}), 0.2);

  const plateau::Run run = journal.recording().run();
  EXPECT_EQ(check_shape(run), "");
  ASSERT_EQ(run.processes.size(), 2u);
  EXPECT_EQ(run.processes[0].id, 7);
  EXPECT_EQ(run.processes[0].role, Role::main);
  ASSERT_NE(series(run, 0, Metric::anon), nullptr);
  EXPECT_DOUBLE_EQ(series(run, 0, Metric::anon)->mb[1], 2000 * 1024 / 1e6);
  ASSERT_NE(series(run, 1, Metric::anon), nullptr);
  EXPECT_TRUE(std::isnan(series(run, 1, Metric::anon)->mb[0]));
  EXPECT_DOUBLE_EQ(run.instants[1].time_s, 0.2);
}

TEST(Journal, ASampleThatIsNotWholeLeavesNoRow) {
  Journal journal = in_memory();
  journal.sample(snapshot({process(7, 1000)}), 0.1);
  Snapshot torn = snapshot({process(7, 1000)});
  torn.whole = false;
  torn.complaints = {"a file could not be read"};
  for (int i = 0; i < 20; ++i) journal.sample(torn, 0.2 + i * 0.1);
  journal.finish({});
  const plateau::Run run = journal.recording().run();
  EXPECT_EQ(run.instants.size(), 1u);
  EXPECT_THAT(run.notes, Contains("a file could not be read"));
  EXPECT_THAT(run.notes, Contains(testing::HasSubstr("20 samples are left out")));
}

TEST(Journal, AColumnThatWasNeverMoreThanZeroIsNotOpened) {
  Journal journal = in_memory();
  journal.sample(snapshot({process(7, 1000)}), 0.1);
  ProcessSample later = process(7, 1000);
  later.swap_kb = 50;
  journal.sample(snapshot({later}), 0.2);
  journal.sample(snapshot({process(7, 1000)}), 0.3);

  const plateau::Run run = journal.recording().run();
  EXPECT_EQ(series(run, 0, Metric::shmem), nullptr);
  EXPECT_EQ(series(run, 0, Metric::gpu), nullptr);
  ASSERT_NE(series(run, 0, Metric::swap), nullptr);
  EXPECT_DOUBLE_EQ(series(run, 0, Metric::swap)->mb[2], 0);
}

TEST(Journal, APidThatIsUsedAgainIsAnotherProcess) {
  Journal journal = in_memory();
  journal.sample(snapshot({process(7, 1000)}), 0.1);
  ProcessSample other = process(7, 3000);
  other.key.start_ticks = 999;
  journal.sample(snapshot({other}), 0.2);
  EXPECT_EQ(journal.recording().run().processes.size(), 2u);
}

TEST(Journal, ARoleThatBecomesKnownReplacesTheOldOne) {
  Journal journal = in_memory();
  ProcessSample first = process(7, 1000);
  first.role = Role::unknown;
  journal.sample(snapshot({first}), 0.1);
  journal.sample(snapshot({process(7, 1000)}), 0.2);
  const plateau::Run run = journal.recording().run();
  ASSERT_EQ(run.processes.size(), 1u);
  EXPECT_EQ(run.processes[0].role, Role::main);
}

TEST(Journal, StepsNeverGoBack) {
  Journal journal = in_memory();
  EXPECT_TRUE(journal.words(words("step 10"), 0.1));
  EXPECT_FALSE(journal.words(words("step 9"), 0.2));
  EXPECT_FALSE(journal.words(words("step 10"), 0.2));
  EXPECT_EQ(journal.step(), 10);
  EXPECT_TRUE(journal.words(words("step 11"), 0.3));
}

TEST(Journal, WordsOfTheLoopBeatItsOutput) {
  Journal journal = in_memory();
  EXPECT_TRUE(journal.output(line(3), 0.1));
  EXPECT_TRUE(journal.words(words("step 4"), 0.2));
  EXPECT_FALSE(journal.output(line(90), 0.3));
  EXPECT_EQ(journal.step(), 4);
}

TEST(Journal, RowsCarryTheLastStep) {
  Journal journal = in_memory();
  journal.sample(snapshot({process(7, 1000)}), 0.1);
  journal.output(line(5, 0.25), 0.15);
  journal.sample(snapshot({process(7, 1000)}), 0.2);
  const plateau::Run run = journal.recording().run();
  EXPECT_TRUE(run.has_steps());
  EXPECT_EQ(run.instants[1].step, 5);
  EXPECT_DOUBLE_EQ(run.instants[1].epoch, 0.25);
}

TEST(Journal, TheLengthOfAnEpochIsLearnedFromStepAndEpoch) {
  Journal journal = in_memory();
  journal.sample(snapshot({process(7, 1000)}), 0.1);
  for (int step = 1; step <= 200; ++step) {
    journal.output(line(step, std::round(step / 83.0 * 100) / 100), 0.1);
  }
  const Context context = journal.recording().run().context;
  ASSERT_TRUE(context.epoch_steps.has_value());
  EXPECT_NEAR(context.epoch_steps->value, 83, 1);
  EXPECT_EQ(context.epoch_steps->source, "epochs as logged");
}

TEST(Journal, ALengthThatWasStatedIsNotLearned) {
  Journal journal = in_memory();
  journal.words(words("run epoch_steps=80"), 0.1);
  for (int step = 1; step <= 200; ++step) journal.output(line(step, step / 83.0), 0.1);
  EXPECT_DOUBLE_EQ(journal.recording().run().context.epoch_steps->value, 80);
}

TEST(Journal, AFactIsWrittenOnceHoweverOftenItIsSaid) {
  const ScratchDirectory scratch;
  Journal journal(
      std::move(RecordingWriter::create(scratch.file("a.plateau"), RecordingHead()).value()));
  journal.words(words("run total_steps=250"), 0.1);
  const uint64_t once = journal.recording().bytes_written();
  for (int i = 0; i < 100; ++i) journal.words(words("run total_steps=250"), 0.1);
  EXPECT_EQ(journal.recording().bytes_written(), once);
  EXPECT_DOUBLE_EQ(journal.stated().total_steps->value, 250);
  journal.words(words("run total_steps=300"), 0.1);
  EXPECT_DOUBLE_EQ(journal.recording().run().context.total_steps->value, 300);
}

TEST(Journal, ARankIsThatOfTheProcessWhichSaysSo) {
  Journal journal = in_memory();
  journal.sample(snapshot({process(7, 1000), process(8, 1000)}), 0.1);
  for (const auto& [pid, rank] : {std::pair(7, 0), std::pair(8, 1), std::pair(9, 2)}) {
    StepWords words = *parse_step_words(fmt::format("run rank={} world=4 from=auto", rank));
    words.pid = pid;
    journal.words(words, 0.1);
  }
  journal.sample(snapshot({process(7, 1000), process(8, 1000)}), 0.2);

  const plateau::Run run = journal.recording().run();
  EXPECT_EQ(run.processes[0].rank, 0);
  EXPECT_EQ(run.processes[1].rank, 1);
  EXPECT_FALSE(run.context.rank) << "a tree may hold many";
  EXPECT_EQ(run.context.world->value, 4);
}

TEST(Journal, WhatTheEnvironmentTellsGivesWayToTheUser) {
  Journal journal = in_memory();
  Context given;
  given.job = Fact{0, "--job", "mine"};
  journal.facts_of_user(given);
  Snapshot first = snapshot({process(7, 1000)});
  first.launched.emplace();
  first.launched->job = Fact{0, "SLURM_JOB_ID (Slurm)", "4711"};
  first.launched->rank = Fact{3, "RANK (torchrun)"};
  journal.sample(first, 0.1);

  const plateau::Run run = journal.recording().run();
  EXPECT_EQ(run.context.job->text, "mine");
  EXPECT_EQ(run.context.rank->value, 3);
}

TEST(Journal, PhasesAndMarksBecomeEvents) {
  Journal journal = in_memory();
  journal.sample(snapshot({process(7, 1000)}), 0.1);
  for (const char* said : {"begin eval", "end eval", "mark checkpoint", "begin save", "mark epoch",
                           "mark after the fix"}) {
    journal.words(words(said), 0.15);
  }
  journal.sample(snapshot({process(7, 1000)}), 0.2);
  const plateau::Run run = journal.recording().run();
  std::vector<EventKind> kinds(run.events.size());
  std::transform(run.events.begin(), run.events.end(), kinds.begin(),
                 [](const Event& event) { return event.kind; });
  EXPECT_THAT(kinds, ElementsAre(EventKind::eval, EventKind::mark, EventKind::checkpoint,
                                 EventKind::checkpoint, EventKind::epoch, EventKind::mark));
}

TEST(Journal, AGaugeOfTheLoopStandsInEveryRowAfterItWasSaid) {
  Journal journal = in_memory();
  journal.sample(snapshot({process(7, 1000), process(8, 1000)}), 0.1);
  journal.words(words("gauge tensors.cpu 330 pid=8"), 0.15);
  journal.sample(snapshot({process(7, 1000), process(8, 1000)}), 0.2);
  journal.sample(snapshot({process(7, 1000), process(8, 1000)}), 0.3);
  const plateau::Run run = journal.recording().run();
  const Gauge* tensors = gauge(run, "tensors.cpu");
  ASSERT_NE(tensors, nullptr);
  EXPECT_EQ(tensors->process, 1u);
  EXPECT_TRUE(std::isnan(tensors->value[0]));
  EXPECT_DOUBLE_EQ(tensors->value[2], 330);
  EXPECT_NE(gauge(run, "threads"), nullptr);
}

TEST(Journal, WhatWatchingCostStandsBesideTheRootUntilItHasMoved) {
  Journal journal = in_memory();
  const auto tick = [&](double cpu_s, double walk_share, double at_s) {
    journal.cost(cpu_s, walk_share);
    journal.sample(snapshot({process(7, 1000), process(8, 1000)}), at_s);
  };
  tick(1.0, 0.001, 1);
  tick(1.04, 0.0012, 2);  // Less than a twentieth more.
  tick(1.06, 0.0013, 3);
  const plateau::Run run = journal.recording().run();
  const Gauge* cpu = gauge(run, kCostCpu);
  const Gauge* walks = gauge(run, kCostWalks);
  ASSERT_NE(cpu, nullptr);
  ASSERT_NE(walks, nullptr);
  EXPECT_EQ(cpu->process, 0u);
  EXPECT_THAT(cpu->value, ElementsAre(1.0, 1.0, 1.06));
  EXPECT_THAT(walks->value, ElementsAre(0.001, 0.001, 0.0013));
}

TEST(Journal, WhatWatchingCostTakesFewBytes) {
  const auto bytes_of = [](bool with_cost) {
    const ScratchDirectory scratch;
    Journal journal(
        std::move(RecordingWriter::create(scratch.file("a.plateau"), RecordingHead()).value()));
    for (int i = 1; i <= 4000; ++i) {
      if (with_cost) journal.cost(0.004 * i, 0.001);
      journal.sample(snapshot({process(7, 1000 + i)}), i);
    }
    return journal.recording().bytes_written();
  };
  // 100 doublings of a twentieth lead from 0.01 to 16 s.
  EXPECT_LT(bytes_of(true), bytes_of(false) + 1000);
}

TEST(Journal, AnOutOfMemoryKillInTheCgroupIsAnEvent) {
  Journal journal = in_memory();
  Snapshot taken = snapshot({process(7, 1000)});
  taken.cgroup.version = 2;
  taken.cgroup.oom_kills = 3;  // From before.
  journal.sample(taken, 0.1);
  taken.cgroup.oom_kills = 4;
  journal.sample(taken, 0.2);
  journal.sample(taken, 0.3);
  const plateau::Run run = journal.recording().run();
  ASSERT_EQ(run.events.size(), 1u);
  EXPECT_EQ(run.events[0].kind, EventKind::oom);
}

TEST(Journal, AnEmptySnapshotIsNoRow) {
  Journal journal = in_memory();
  journal.sample(Snapshot(), 0.1);
  EXPECT_TRUE(journal.recording().run().instants.empty());
}

TEST(Journal, ComplaintsOfTheProbeAreNotes) {
  Journal journal = in_memory();
  Snapshot taken = snapshot({process(7, 1000)});
  taken.complaints = {"pid 812: permission denied"};
  journal.sample(taken, 0.1);
  EXPECT_THAT(journal.recording().run().notes, Contains("pid 812: permission denied"));
}

}  // namespace
}  // namespace plateau
