// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "import/import.h"
#include "recording/checks_for_test.h"

namespace plateau {
namespace {

// The runs of a text log; a failure shows its message.
std::vector<plateau::Run> read(std::string_view text) {
  ImportOptions options;
  options.format = "text";
  Result<std::vector<plateau::Run>> runs = import_bytes("log", text, options);
  if (!runs.ok()) {
    ADD_FAILURE() << runs.error().message << "\n" << text;
    return {};
  }
  for (const plateau::Run& run : runs.value()) EXPECT_EQ(check_shape(run), "");
  return runs.value();
}

plateau::Run read_one(std::string_view text) {
  std::vector<plateau::Run> runs = read(text);
  EXPECT_EQ(runs.size(), 1u) << text;
  return runs.empty() ? plateau::Run{} : runs[0];
}

bool finds_nothing(std::string_view text) {
  ImportOptions options;
  options.format = "text";
  const auto runs = import_bytes("log", text, options);
  return !runs.ok() && runs.error().kind == Error::Kind::no_samples;
}

// The first value of `metric`, NaN if there is no such series.
double first(const plateau::Run& run, Metric metric) {
  for (const Series& series : run.series) {
    if (series.metric == metric) return series.mb[0];
  }
  return kMissing;
}

TEST(TextLog, TensorCountsAreGaugesAndRamIsTheValue) {
  const plateau::Run run = read_one("Step 10: 6529 tensors (CPU: 330, GPU: 6199), RAM: 5552 MB\n");
  ASSERT_EQ(run.series.size(), 1u);
  EXPECT_EQ(run.series[0].label, "RAM");
  EXPECT_DOUBLE_EQ(run.series[0].mb[0], 5552);
  ASSERT_EQ(run.gauges.size(), 3u);
  EXPECT_EQ(run.gauges[1].name, "tensors.cpu");
  EXPECT_DOUBLE_EQ(run.gauges[2].value[0], 6199);
  EXPECT_EQ(run.instants[0].step, 10);
}

TEST(TextLog, DeltaInBracketsIsNotTheValue) {
  const plateau::Run run = read_one(
      "Step 20:  7,159 MB  (+1,607 MB)\nStep 30: 7,100 MB (-59 MB)\nStep 40: 7,100 MB  (0 MB)\n"
      "Step 50: 6529 tensors, RAM: 8851 MB   | +1692 MB (+169 MB/step)\n");
  EXPECT_EQ(run.series[0].mb, (std::vector<double>{7159, 7100, 7100, 8851}));
}

TEST(TextLog, NotationsOfTheSameThingReadAlike) {
  for (const char* line :
       {"step=10 rss=5.4GB", "Step 10: RSS 5,400 MB", "[10/250] step 10 rss: 5400000 kB",
        "global_step: 10 | rss_mb 5400", "iter 10 | rss 5400000 kB", "RSS at step 10: 5.4 GB",
        "{'loss': 1.2, 'epoch': 0.12, 'rss_mb': 5400, 'step': 10}", "step 10, 5.4 GB RSS",
        "Step #10 - rss (MB): 5400", "train step 10/250 loss 0.3 (rss 5.4 GB, +12 MB)",
        "\x1b[1mstep 10\x1b[0m rss=\x1b[31m5.4GB\x1b[0m", "iteration 10: rss 5400MB/64000MB",
        "step 10 rss 5.4/64 GB", "step 10 peak rss 9 GB, rss 5.4 GB, vms 90 GB"}) {
    const plateau::Run run = read_one(line);
    ASSERT_EQ(run.instants.size(), 1u) << line;
    EXPECT_EQ(run.instants[0].step, 10) << line;
    EXPECT_NEAR(first(run, Metric::rss), 5400, 1e-6) << line;
    EXPECT_EQ(run.series.size(), 1u) << line;
  }
}

TEST(TextLog, BinaryUnitsAndLoneLettersArePowersOf1024) {
  EXPECT_NEAR(first(read_one("step=10 rss=5.4GiB"), Metric::rss), 5798.2, 0.1);
  EXPECT_NEAR(first(read_one("step 120/250 loss=0.3 mem: 12.1G"), Metric::memory), 12992.3, 0.1);
}

TEST(TextLog, WhatIsNotMemoryInUseIsNoSample) {
  for (const char* line :
       {"step 10 loss 0.3 lr 1e-4 12 it/s", "step 10 throughput 5552 MB/s", "step 10 mem 45%",
        "step 10: peak memory 5552 MB", "step 10 total memory: 32 GB", "step 10 free 5 GB",
        "Step 10: saved checkpoint 250 MB", "Steps 10-80:  6,529 tensors (CPU: 330, GPU: 6,199)",
        "a 7B model at step 10", "memory grew by +5 MB at step 10", "step 10 (5552 MB)",
        "after step 90, memory stays at ~17 GB for 150+ more steps",
        "~170 MB per 10 training steps", "13:18:25 INFO loaded shard 1 of 4: 10.4 GB",
        "Minimum RAM: 20 GB", "A100-80GB step 5"}) {
    EXPECT_TRUE(finds_nothing(line)) << line;
  }
}

TEST(TextLog, TimeAloneIsAClockAndTheArrowAnEvent) {
  const plateau::Run run = read_one(
      "13:18:20  6.2 GB  <- Training\n13:18:25  10.4 GB  <- Validation starts (+4 GB spike!)\n");
  ASSERT_EQ(run.instants.size(), 2u);
  EXPECT_EQ(run.instants[0].step, -1);
  EXPECT_DOUBLE_EQ(run.instants[1].time_s - run.instants[0].time_s, 5);
  EXPECT_DOUBLE_EQ(run.series[0].mb[1], 10400);
  ASSERT_EQ(run.events.size(), 2u);
  EXPECT_EQ(run.events[1].kind, EventKind::eval);
  EXPECT_EQ(run.events[1].instant, 1u);
  EXPECT_EQ(run.events[1].text, "Validation starts (+4 GB spike!)");
}

TEST(TextLog, ClockTimesGoOnAfterMidnight) {
  const plateau::Run run = read_one(
      "Oct 20 23:59:50 node7 train: Memory usage: 3.2 GB\n"
      "Oct 21 00:00:10 node7 train: Memory usage: 3.3 GB\n");
  EXPECT_DOUBLE_EQ(run.instants[1].time_s - run.instants[0].time_s, 20);
  EXPECT_EQ(run.series[0].metric, Metric::memory);
}

TEST(TextLog, DatesAndEpochSecondsCountFrom1970) {
  EXPECT_TRUE(read_one("[2025-10-20 13:18:25] INFO step 120/250 mem: 12.1G").epoch_time);
  const plateau::Run run = read_one("1760966305 5552 MB\n1760966315 5560 MB\n");
  EXPECT_TRUE(run.epoch_time);
  EXPECT_DOUBLE_EQ(run.instants[1].time_s, 1760966315);
}

TEST(TextLog, BareNumberAfterATimeIsKibAsPsPrintsIt) {
  const plateau::Run run = read_one("13:18:25 123456\n13:18:30 123556\n");
  EXPECT_NEAR(first(run, Metric::rss), 126.4, 0.1);
}

TEST(TextLog, ProgressBarsGiveStepTimeAndTotal) {
  const plateau::Run run = read_one(
      " 33%|███ | 83/250 [12:01<24:10, 8.7s/it, ram=17.4GB]\r"
      " 34%|███ | 84/250 [12:10<24:01, 8.7s/it, ram=17.5GB]\r");
  EXPECT_EQ(run.instants[1].step, 84);
  EXPECT_DOUBLE_EQ(run.instants[1].time_s - run.instants[0].time_s, 9);
  ASSERT_TRUE(run.context.total_steps);
  EXPECT_DOUBLE_EQ(run.context.total_steps->value, 250);
}

TEST(TextLog, EvaluationBarsInBetweenDoNotSplitTheRun) {
  const plateau::Run run = read_one(
      "83/250 [12:01<24:10, ram=17.4GB]\r0/40 [00:00<?, ?it/s]\r20/40 [00:02<00:02, ram=18GB]\r"
      "40/40 [00:04<00:00, ?it/s]\r84/250 [12:10<24:10, ram=17.5GB]\r85/250 [12:20<24:10, "
      "ram=17.5GB]");
  EXPECT_EQ(run.instants.size(), 3u);
}

TEST(TextLog, BarThatStartsAgainWithTheEpochCountsOn) {
  const plateau::Run run = read_one(
      "Epoch 1:  12%|1 | 83/663 [00:10<00:20, v_num=3, rss=5.4G]\n"
      "Epoch 1: 100%|1 | 663/663 [00:20<00:00, v_num=3, rss=5.5G]\n"
      "Epoch 2:   1%|1 | 4/663 [00:01<00:20, v_num=3, rss=5.6G]\n");
  EXPECT_EQ(run.instants[2].step, 667);
  EXPECT_GT(run.instants[2].time_s, run.instants[1].time_s);
  ASSERT_TRUE(run.context.epoch_steps);
  EXPECT_DOUBLE_EQ(run.context.epoch_steps->value, 663);
  EXPECT_EQ(run.events[0].kind, EventKind::epoch);
}

TEST(TextLog, StepThatGoesBackStartsANewRun) {
  const std::vector<plateau::Run> runs = read(
      "Step 10: 5 GB\nStep 20: 6 GB\n[Process restarted]\nStep 10: 5 GB\nStep 20: 6 GB\nStep 30: 7 "
      "GB\n");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].instants.size(), 2u);
  EXPECT_EQ(runs[1].instants.size(), 3u);
  EXPECT_EQ(runs[1].title, "run 2 of 2 (line 4)");
  EXPECT_EQ(runs[0].events[0].kind, EventKind::restart);
}

TEST(TextLog, OneLateLineIsLeftOutAndCounted) {
  const plateau::Run run =
      read_one("step 1 rss 1 GB\nstep 3 rss 1 GB\nstep 2 rss 1 GB\nstep 4 rss 1 GB\n");
  EXPECT_EQ(run.instants.size(), 3u);
  EXPECT_EQ(run.lines_bad, 1u);
  EXPECT_EQ(run.bad_samples[0], "line 3: out of order: 2 after 3");
}

TEST(TextLog, SameStepTwiceKeepsTheLastValueUnlessTimesDiffer) {
  EXPECT_EQ(read_one("step 5 rss 1 GB\nstep 5 rss 2 GB\n").series[0].mb,
            (std::vector<double>{2000}));
  const plateau::Run run = read_one("10:00:00 step 5 rss 1 GB\n10:00:01 step 5 rss 2 GB\n");
  EXPECT_EQ(run.instants.size(), 2u);
}

TEST(TextLog, ContextIsReadWhereTheLogStatesIt) {
  const plateau::Run run = read_one(
      "   \\\\   /|    Num examples = 663 | Num Epochs = 3 | Total steps = 250\n"
      "\\        /    Data Parallel GPUs = 1 | Total batch size (2 x 4 x 1) = 8\n"
      "{'loss': 1.2, 'epoch': 0.12, 'ram_mb': 5552, 'step': 10}\n"
      "***** Running Evaluation *****\n  Num examples = 100\n  Batch size = 4\n");
  EXPECT_DOUBLE_EQ(run.context.examples->value, 663);
  EXPECT_EQ(run.context.examples->source, "line 1");
  EXPECT_DOUBLE_EQ(run.context.batch->value, 8);
  EXPECT_DOUBLE_EQ(run.context.total_steps->value, 250);
  EXPECT_DOUBLE_EQ(run.instants[0].epoch, 0.12);
}

TEST(TextLog, FactsBetweenTwoRunsBelongToTheLaterOne) {
  const std::vector<plateau::Run> runs = read(
      "Num examples = 100\nStep 10: 5 GB\nStep 20: 5 GB\nNum examples = 663\nStep 10: 5 GB\n"
      "Step 20: 6 GB\n");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_DOUBLE_EQ(runs[0].context.examples->value, 100);
  EXPECT_DOUBLE_EQ(runs[1].context.examples->value, 663);
}

TEST(TextLog, PerDeviceBatchTimesAccumulationIsTheBatch) {
  const plateau::Run run =
      read_one("Batch size per device = 2 | Gradient accumulation steps = 4\nStep 1: 5 GB\n");
  ASSERT_TRUE(run.context.batch);
  EXPECT_DOUBLE_EQ(run.context.batch->value, 8);
}

TEST(TextLog, SeveralKindsOfMemoryOnALineBecomeSeveralSeries) {
  const plateau::Run run = read_one(
      "step 10 rss=5.0GB pss=4.0GB uss: 3.9GB, shmem 1GB swap=0MB vms=30GB gpu_mem=12GB "
      "reserved=14GB");
  EXPECT_DOUBLE_EQ(first(run, Metric::rss), 5000);
  EXPECT_DOUBLE_EQ(first(run, Metric::pss), 4000);
  EXPECT_DOUBLE_EQ(first(run, Metric::uss), 3900);
  EXPECT_DOUBLE_EQ(first(run, Metric::shmem), 1000);
  EXPECT_DOUBLE_EQ(first(run, Metric::swap), 0);
  EXPECT_DOUBLE_EQ(first(run, Metric::gpu), 12000);
  EXPECT_DOUBLE_EQ(first(run, Metric::gpu_reserved), 14000);
  EXPECT_EQ(run.series.size(), 7u);
}

TEST(TextLog, DeviceMemoryIsNotTheHosts) {
  const plateau::Run run = read_one("step 10: 5552 MB, GPU: 6199 MB");
  EXPECT_DOUBLE_EQ(first(run, Metric::memory), 5552);
  EXPECT_DOUBLE_EQ(first(run, Metric::gpu), 6199);
}

TEST(TextLog, RanksAreProcesses) {
  const plateau::Run run = read_one("[rank0]: step 10 rss=5 GB\n[rank1]: step 10 rss=6 GB\n");
  EXPECT_EQ(run.processes.size(), 2u);
  EXPECT_EQ(run.instants.size(), 1u);
}

TEST(TextLog, MemoryOnTheNextLineTakesTheLastStep) {
  const plateau::Run run = read_one("Step 10\nRAM: 5552 MB\nStep 20\nRAM: 5652 MB\n");
  EXPECT_EQ(run.instants[1].step, 20);
}

TEST(TextLog, WithoutAnyClockSamplesAreNumbered) {
  const plateau::Run run = read_one("rss=5.0GB\nrss=5.1GB\nrss=5.2GB\nrss=5.3GB\nrss=5.3GB\n");
  EXPECT_EQ(run.instants[4].step, 4);
  EXPECT_TRUE(finds_nothing("rss=5.0GB\nrss=5.1GB\n"));
}

TEST(TextLog, NegativeAndImpossibleAmountsAreBadLines) {
  const plateau::Run run =
      read_one("Step 10 memory: 5 GB\nStep 20 memory: -5 MB\nStep 30 memory: 1e30 MB\n");
  EXPECT_EQ(run.instants.size(), 1u);
  EXPECT_EQ(run.lines_bad, 2u);
  EXPECT_EQ(run.bad_samples[0], "line 2: negative memory in 'Step 20 memory: -5 MB'");
}

TEST(TextLog, NumbersWithoutUnitAreGuessedOnceAndSaidSo) {
  const plateau::Run run = read_one("iter 1 memory: 190000\niter 2 memory: 210000\n");
  EXPECT_EQ(run.series[0].mb, (std::vector<double>{190000, 210000}));
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_EQ(run.notes[0], "'memory' has no unit: read as MB");
}

TEST(TextLog, FewLinesOfAnotherClockDoNotDisturb) {
  const plateau::Run run = read_one(
      "Step 10: 5 GB\nStep 20: 5 GB\nBatch 1: 732 MB -> 1027 MB (+295 MB)\nStep 30: 5 GB\n"
      "Step 40: 5 GB\nStep 50: 5 GB\n");
  EXPECT_EQ(run.instants.size(), 5u);
}

TEST(TextLog, ThousandRestartsAreEnough) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "step 2 rss 1 GB\nstep 1 rss 1 GB\n";
  EXPECT_LE(read(text).size(), 1000u);
}

TEST(TextLog, LinesWithoutAClockAreOneSampleUntilOneComesAgain) {
  std::string text;
  for (int i = 0; i < 8; ++i) {
    text += "Rss: " + std::to_string(100 + i) + " MB\nPss: " + std::to_string(90 + i) + " MB\n";
  }
  const plateau::Run run = read_one(text);
  EXPECT_EQ(run.instants.size(), 8U);
  EXPECT_EQ(run.series.size(), 2U);
}

// vitest's "cart.test.ts (5 tests) 279ms 98 MB heap used": a file's name is no clock.
TEST(TextLog, AClockThatGoesBackEveryFewLinesIsNone) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += " ok tests/cart.test.ts (" + std::to_string(3 + i * 7 % 17) + " tests) 279ms " +
            std::to_string(98 + 6 * i) + " MB heap used\n";
  }
  const auto runs = import_bytes("log", text);
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs.value().size(), 1U);
  EXPECT_EQ(runs.value()[0].series[0].mb.size(), 40U);
}

// timm's "Train: 1 [ 50/100": the bar that starts again is the next pass, and no other run.
TEST(TextLog, ANumberBetweenANameAndTheBarCountsPasses) {
  std::string text;
  for (int pass = 0; pass < 3; ++pass) {
    for (int at = 0; at < 100; at += 25) {
      text += "Train: " + std::to_string(pass) + " [  " + std::to_string(at) +
              "/100 ( 25%)]  Loss: 6.91  LR: 1.0e-03  Mem: " + std::to_string(7400 + at) + "\n";
    }
  }
  const auto run = read_one(text);
  EXPECT_EQ(run.instants.size(), 12U);
  EXPECT_EQ(run.instants.back().step, 275);
  ASSERT_TRUE(run.context.epoch_steps.has_value());
  EXPECT_EQ(run.context.epoch_steps->value, 100);
}

}  // namespace
}  // namespace plateau
