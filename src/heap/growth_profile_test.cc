// SPDX-License-Identifier: Apache-2.0
#include "heap/growth_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "heap/testing/fake_tracer.h"
#include "recording/checks_for_test.h"

namespace plateau {
namespace {

class Growth : public testing::Test {
 protected:
  void announce(uint64_t id) {
    StackNews news;
    news.id = id;
    news.native = {id * 16, 0x400000};
    profile.stack(std::move(news));
  }
  void round(bool ordered = true) {
    profile.end_round();
    profile.begin_round(ordered);
  }
  HeapTrack track() {
    HeapTrack made = profile.track(now);
    EXPECT_EQ(check_heap_track(made), "");
    return made;
  }

  StepMarks marks;
  GrowthProfile profile{&marks, 1000};
  uint64_t now = 1000000;
};

TEST_F(Growth, SumsBySiteToTheByte) {
  // Given two sites and a block that is freed
  announce(1);
  announce(2);
  profile.begin_round(true);
  profile.alloc(alloc_record(0x1000, 100, 1, 10));
  profile.alloc(alloc_record(0x2000, 1000, 2, 11));
  profile.alloc(alloc_record(0x3000, 30, 1, 12));
  profile.free(free_record(0x1000, 13));
  // When it is asked for
  profile.row({.time_s = 1});
  const HeapTrack got = track();
  // Then the larger comes first, and nothing is estimated
  ASSERT_EQ(got.sites.size(), 2U);
  EXPECT_EQ(got.sites[0].allocated_bytes, 1000);
  EXPECT_EQ(got.sites[1].allocated_bytes, 130);
  EXPECT_EQ(got.sites[1].freed_bytes, 100);
  EXPECT_EQ(got.sites[1].freed_blocks, 1);
  EXPECT_EQ(got.sites[1].live_variance, 0);
  ASSERT_EQ(got.rows.size(), 1U);
  ASSERT_EQ(got.rows[0].cells.size(), 2U);
  EXPECT_EQ(got.rows[0].cells[1].live_bytes, 30);
  EXPECT_EQ(got.stacks[got.sites[0].stack].native[0], 32U);
}

TEST_F(Growth, KindsOfOneStackAreSitesOfTheirOwn) {
  announce(1);
  profile.begin_round(true);
  profile.alloc(alloc_record(0x1000, 100, 1, 10));
  profile.alloc(alloc_record(0x2000, 50, 1, 11, 0, trace::BlockKind::python));
  const HeapTrack got = track();
  ASSERT_EQ(got.sites.size(), 2U);
  EXPECT_EQ(got.sites[1].kind, HeapKind::python);
  EXPECT_EQ(got.stacks.size(), 1U);
}

TEST_F(Growth, AStackMayComeAfterItsBlocksButMustCome) {
  profile.begin_round(false);
  profile.alloc(alloc_record(0x1000, 100, 1, 10));
  profile.alloc(alloc_record(0x2000, 7, 2, 10));
  announce(1);
  profile.row({.time_s = 1});
  const HeapTrack got = track();
  ASSERT_EQ(got.sites.size(), 1U);
  EXPECT_EQ(got.sites[0].allocated_bytes, 100);
  EXPECT_EQ(got.rows[0].others_bytes, 7);
}

TEST_F(Growth, EventsBelongToTheStepInWhichTheyHappened) {
  announce(1);
  // Given marks that are known before the events are read
  marks.mark(100, 0);
  marks.mark(200, 1);
  marks.mark(300, 2);
  marks.mark(900, 8);
  profile.begin_round(true);
  // When a block lives from step 0 to step 2, one within a step, and one from step 1 on
  profile.alloc(alloc_record(0x1000, 10, 1, 150));
  profile.free(free_record(0x1000, 350));
  profile.alloc(alloc_record(0x2000, 10, 1, 210));
  profile.free(free_record(0x2000, 220));
  profile.alloc(alloc_record(0x3000, 10, 1, 250));
  // Then ages are counted in steps
  const HeapTrack got = track();
  EXPECT_EQ(got.sites[0].first_step, 0);
  EXPECT_EQ(got.sites[0].freed_age[0], 1);
  EXPECT_EQ(got.sites[0].freed_age[2], 1) << "2 steps are in [2, 4)";
  EXPECT_EQ(got.sites[0].live_age[3], 1) << "7 steps are in [4, 8)";
}

TEST_F(Growth, WithoutStepsAgesAreSeconds) {
  announce(1);
  profile.begin_round(true);
  profile.alloc(alloc_record(0x1000, 10, 1, 1000));
  profile.free(free_record(0x1000, 4500));  // 1000 ticks a second: 3.5 s.
  EXPECT_EQ(track().sites[0].freed_age[2], 1);
  // Once there are steps, what was freed before the first is within it.
  marks.mark(5000, 0);
  round();
  EXPECT_EQ(track().sites[0].freed_age[0], 1);
  EXPECT_EQ(track().sites[0].freed_age[2], 0);
}

TEST_F(Growth, SampledBlocksStandForThoseNotSeen) {
  // Given 400 000 blocks of mixed sizes at two sites, sampled at 2^16 bytes as the tracer does
  constexpr unsigned kNote = 16;
  announce(1);
  announce(2);
  std::mt19937_64 random(7);
  std::exponential_distribution<double> gap(std::ldexp(1.0, -static_cast<int>(kNote)));
  profile.begin_round(true);
  std::array<double, 3> truth{};
  double until = gap(random);
  for (uint64_t i = 1; i <= 400000; ++i) {
    const uint64_t site = 1 + random() % 2;
    const uint64_t bytes = site == 1 ? 64 + random() % 4096 : 16 + random() % 100;
    truth[site] += static_cast<double>(bytes);
    until -= static_cast<double>(bytes);
    if (until > 0) continue;
    until = gap(random);
    profile.alloc(alloc_record(i * 8192, bytes, site, i, kNote));
  }
  // Then the sums are right within three of the stated errors, which are small
  const HeapTrack got = track();
  for (const HeapSite& site : got.sites) {
    const uint64_t id = got.stacks[site.stack].native[0] / 16;
    const double error = std::sqrt(site.live_variance);
    EXPECT_NEAR(site.allocated_bytes, truth[id], 3 * error);
    EXPECT_LT(error, truth[id] * (id == 1 ? 0.02 : 0.1));
  }
}

TEST_F(Growth, ASiteWhoseSampledBlocksAreAllFreedHoldsNothing) {
  announce(1);
  std::mt19937_64 random(3);
  profile.begin_round(true);
  std::vector<uint64_t> sizes;
  for (uint64_t i = 1; i <= 20000; ++i) {
    profile.alloc(alloc_record(i * 16, 1 + random() % 100000, 1, i, 19));
  }
  for (uint64_t i = 20000; i >= 1; --i) profile.free(free_record(i * 16, 100000 + i));
  profile.row({.time_s = 1});
  const HeapTrack got = track();
  EXPECT_NEAR(got.sites[0].allocated_bytes - got.sites[0].freed_bytes, 0, 1);
  EXPECT_NEAR(got.sites[0].live_variance, 0,
              1e-6 * got.sites[0].allocated_bytes * got.sites[0].allocated_bytes);
}

TEST_F(Growth, PartOfAMappingGoes) {
  announce(1);
  profile.begin_round(true);
  profile.alloc(alloc_record(0x100000, 0x10000, 1, 10, 0, trace::BlockKind::mapping));
  profile.unmap(unmap_record(0x108000, 0x4000, 20));
  profile.row({.time_s = 1});
  const HeapTrack got = track();
  EXPECT_EQ(got.rows[0].cells[0].live_bytes, 0xc000);
  EXPECT_EQ(got.rows[0].cells[0].live_blocks, 0.75);
}

TEST_F(Growth, RowsStayBoundedAndTheLastIsThere) {
  announce(1);
  profile.begin_round(true);
  for (uint64_t i = 1; i <= 1000; ++i) {
    profile.alloc(alloc_record(i * 16, 1, 1, i));
    profile.row({.time_s = static_cast<double>(i), .step = static_cast<int64_t>(i)});
    const HeapTrack got = track();
    ASSERT_LE(got.rows.size(), HeapTrack::kMaxHeapRows);
    ASSERT_EQ(got.rows.front().step, 1);
    ASSERT_EQ(got.rows.back().step, static_cast<int64_t>(i));
    ASSERT_EQ(got.rows.back().cells[0].live_bytes, static_cast<double>(i));
  }
  EXPECT_EQ(track().row_stride, 4U);
  EXPECT_GE(track().rows.size(), HeapTrack::kMaxHeapRows / 2);
}

TEST_F(Growth, AMillionStacksDoNotExhaustIt) {
  // Given one site that grows, among a million (size, stack) pairs that hold a little each
  announce(1);
  profile.begin_round(true);
  double all = 0;
  for (uint64_t i = 2; i <= 1000001; ++i) {
    announce(i);
    profile.alloc(alloc_record(i * 64, 1 + i % 500, i, i));
    all += static_cast<double>(1 + i % 500);
    if (i % 10 == 0) {
      profile.alloc(alloc_record(i * 64 + 32, 1000, 1, i));
      all += 1000;
    }
    if (i % 5000 == 0) round();
    if (i % 10000 == 0) profile.row({.time_s = static_cast<double>(i)});
  }
  profile.row({.time_s = 2e6});
  // Then memory is that of the live blocks and a bounded rest
  EXPECT_LT(profile.memory_bytes(), (1100000 * 32 * 4) + (size_t{64} << 20));
  const HeapTrack got = track();
  EXPECT_EQ(got.sites.size(), HeapTrack::kMaxSites);
  // And the site that matters is whole, with the rest in others and the error stated
  EXPECT_EQ(got.sites[0].allocated_bytes, 1e8);
  EXPECT_EQ(got.stacks[got.sites[0].stack].native[0], 16U);
  EXPECT_GT(got.folded_sites, 900000U);
  EXPECT_GT(got.folded_max_bytes, 0);
  EXPECT_LE(got.folded_max_bytes, 500);
  double sum = got.rows.back().others_bytes;
  for (const HeapCell& cell : got.rows.back().cells) sum += cell.live_bytes;
  EXPECT_EQ(sum, all);
}

TEST_F(Growth, FreesOfFoldedSitesComeOffTheOthers) {
  profile.begin_round(true);
  for (uint64_t i = 1; i <= 20000; ++i) {
    announce(i);
    profile.alloc(alloc_record(i * 64, 10, i, i));
    if (i % 1000 == 0) round();
  }
  for (uint64_t i = 1; i <= 20000; ++i) profile.free(free_record(i * 64, 100000 + i));
  EXPECT_EQ(profile.live_bytes(), 0);
}

TEST_F(Growth, TotalsAreOfTheHeapAloneAndOutliveFolding) {
  // Given far more sites than are kept, every second one of Python's small objects
  profile.begin_round(true);
  for (uint64_t i = 1; i <= 40000; ++i) {
    announce(i);
    trace::AllocRecord record = alloc_record(i * 64, i % 2 == 0 ? 10 : 7, i, i);
    record.head.kind =
        static_cast<uint8_t>(i % 2 == 0 ? trace::BlockKind::heap : trace::BlockKind::python);
    profile.alloc(record);
    if (i % 1000 == 0) round();
  }
  // When some of both kinds are freed, one address is used again, and a free comes first
  for (uint64_t i = 1; i <= 1000; ++i) profile.free(free_record(i * 64, 100000 + i));
  profile.alloc(alloc_record(2000 * 64, 30, 1, 200000));
  round(false);
  profile.free(free_record(0x90000000, 300000));
  profile.alloc(alloc_record(0x90000000, 5, 1, 250000));
  // Then
  const HeapTotals got = track().heap_totals;
  EXPECT_EQ(got.allocated_blocks, 20002);
  EXPECT_EQ(got.allocated_bytes, 200035);
  EXPECT_EQ(got.freed_blocks, 502);
  EXPECT_EQ(got.freed_bytes, 5015);
}

TEST_F(Growth, ModulesAtOneAddressAreBothKept) {
  profile.module({0x1000, 0x2000, 0, "/a.so", "id1"});
  profile.module({0x1000, 0x2000, 0, "/b.so", "id2"});
  profile.module({0x1000, 0x3000, 0, "/a.so", "id1"});
  const HeapTrack got = track();
  ASSERT_EQ(got.modules.size(), 2U);
  EXPECT_EQ(got.modules[0].end, 0x3000U);
  EXPECT_EQ(got.modules[1].path, "/b.so");
}

TEST_F(Growth, PythonFramesNameTheirCode) {
  CodeNews code;
  code.id = 77;
  code.code.function = "load";
  profile.code(std::move(code));
  StackNews news;
  news.id = 1;
  news.python = {{77, 12, 0}, {78, -1, 1}};
  profile.stack(std::move(news));
  profile.begin_round(true);
  profile.alloc(alloc_record(0x1000, 10, 1, 10));
  const HeapTrack got = track();
  const HeapStack& stack = got.stacks[got.sites[0].stack];
  ASSERT_EQ(stack.python.size(), 2U);
  EXPECT_EQ(got.codes[stack.python[0].code].function, "load");
  EXPECT_EQ(got.codes[stack.python[1].code].function, "?");
  EXPECT_TRUE(stack.python[1].entry);
}

TEST(StepMarks, AnEventBetweenMarksIsInTheEarlierStep) {
  StepMarks marks;
  EXPECT_EQ(marks.step_at(5), -1);
  for (uint64_t i = 0; i < 10000; ++i) marks.mark(100 + i * 10, static_cast<int64_t>(i));
  EXPECT_EQ(marks.step_at(100 + 9999 * 10 + 5000), 9999);
  EXPECT_EQ(marks.step_at(100 + 8000 * 10 + 9), 8000);
  EXPECT_EQ(marks.step_at(50), 9999 - static_cast<int>(StepMarks::kMaxMarks)) << "long forgotten";
}

}  // namespace
}  // namespace plateau
