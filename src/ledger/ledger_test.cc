// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>

namespace plateau {
namespace {

using ::testing::HasSubstr;

std::map<std::string, double> lines_of(const Ledger& ledger) {
  std::map<std::string, double> found;
  for (const LedgerLine& line : ledger.lines) found[line.name] = line.mb;
  return found;
}

// Whole bytes of all lines and the rest.
int64_t sum_bytes(const Ledger& ledger) {
  int64_t sum = std::llround(ledger.rest_mb * 1e6);
  for (const LedgerLine& line : ledger.lines) sum += std::llround(line.mb * 1e6);
  return sum;
}

HeapTrack track_with(double heap, double mapping, double python, double arena, bool hooked) {
  HeapTrack track;
  track.exact = true;
  track.allocator = "glibc";
  track.python_hooked = hooked;
  track.stacks.resize(1);
  track.sites = {{.kind = HeapKind::heap},
                 {.kind = HeapKind::mapping},
                 {.kind = HeapKind::python},
                 {.kind = HeapKind::arena}};
  HeapRow row;
  row.cells = {{0, heap, 1}, {1, mapping, 1}, {2, python, 1}, {3, arena, 1}};
  track.rows = {row};
  return track;
}

ResidentByMapping resident(uint64_t anonymous_mb) {
  ResidentByMapping r;
  r.anonymous = anonymous_mb * 1'000'000;
  r.file = 30'000'000;
  r.file_written = 2'000'000;
  r.shared = 20'000'000;
  r.stacks = 8'000'000;
  r.other = 4'096;
  r.rss = r.anonymous + r.file + r.file_written + r.shared + r.stacks + r.other;
  return r;
}

TEST(Ledger, EveryPartHasItsLineAndTheRestIsWhatIsLeft) {
  HeapTrack track = track_with(300e6, 50e6, 40e6, 64e6, true);
  track.rows[0].others_bytes = 10e6;
  track.rows[0].allocator_in_use = 330e6;
  track.rows[0].allocator_free = 25e6;

  const Ledger ledger = make_ledger(resident(500), &track);

  auto lines = lines_of(ledger);
  EXPECT_EQ(lines["live-heap"], 400);
  EXPECT_EQ(lines["allocator-overhead"], 20);
  EXPECT_EQ(lines["arenas-free"], 24);
  EXPECT_EQ(lines["allocator-held"], 25);
  EXPECT_EQ(lines["files"], 30);
  EXPECT_EQ(lines["files-written"], 2);
  EXPECT_EQ(lines["shared"], 20);
  EXPECT_EQ(lines["thread-stacks"], 8);
  EXPECT_NEAR(ledger.rest_mb, 31 + 0.004096, 1e-9);
  EXPECT_TRUE(ledger.notes.empty());
}

TEST(Ledger, LiveMemoryThatIsNotResidentIsANote) {
  const HeapTrack track = track_with(100e6, 900e6, 0, 0, false);
  const Ledger ledger = make_ledger(resident(200), &track);
  EXPECT_EQ(lines_of(ledger)["live-heap"], 200);
  ASSERT_EQ(ledger.notes.size(), 2u);
  EXPECT_THAT(ledger.notes[0], HasSubstr("800 MB more are alive than are resident"));
  EXPECT_THAT(ledger.notes[1], HasSubstr("what glibc holds free is not known"));
}

TEST(Ledger, FreeMemoryIsAtMostWhatNobodyElseClaims) {
  HeapTrack track = track_with(300e6, 0, 0, 0, false);
  track.rows[0].allocator_in_use = 320e6;
  track.rows[0].allocator_system = 570e6;
  const Ledger ledger = make_ledger(resident(500), &track);
  EXPECT_EQ(lines_of(ledger)["allocator-held"], 180);
  EXPECT_NEAR(ledger.rest_mb, 0.004096, 1e-9);
  ASSERT_EQ(ledger.notes.size(), 1u);
  EXPECT_EQ(ledger.notes[0], "of the 250 MB that glibc holds free, 70.0 MB cannot be resident");
}

// The allocator answers when the program next allocates; this one has freed 82 MB since.
TEST(Ledger, AccountOfAnotherMomentIsUsedOnlyForWhatIsHeldFromTheKernel) {
  HeapTrack track = track_with(100e6, 0, 0, 0, false);
  track.rows[0].allocator_in_use = 182e6;
  track.rows[0].allocator_free = 0.1e6;
  track.rows[0].allocator_system = 182e6;
  const Ledger after_frees = make_ledger(resident(200), &track);
  EXPECT_EQ(lines_of(after_frees).count("allocator-overhead"), 0u);
  EXPECT_EQ(lines_of(after_frees)["allocator-held"], 82);
  EXPECT_EQ(after_frees.lines[1].source,
            "glibc, from the kernel, less the tracer's blocks, at most");

  track = track_with(300e6, 0, 0, 0, false);
  track.rows[0].allocator_in_use = 100e6;
  track.rows[0].allocator_free = 50e6;
  track.rows[0].allocator_system = 150e6;
  const Ledger after_growth = make_ledger(resident(400), &track);
  EXPECT_EQ(lines_of(after_growth)["allocator-held"], 0);
  EXPECT_NEAR(after_growth.rest_mb, 100.004096, 1e-9);
}

TEST(Ledger, ArenasStandForThemselvesWhenTheirObjectsAreNotTraced) {
  const HeapTrack track = track_with(100e6, 0, 0, 64e6, false);
  const Ledger ledger = make_ledger(resident(500), &track);
  auto lines = lines_of(ledger);
  EXPECT_EQ(lines["live-heap"], 100);
  EXPECT_EQ(lines["arenas"], 64);
  EXPECT_EQ(lines.count("arenas-free"), 0u);
}

// The kernel tells them apart already: as heap they would be counted twice.
TEST(Ledger, SharedMemoryAndStacksOfATrackAreNotHeap) {
  HeapTrack track = track_with(100e6, 0, 0, 0, false);
  track.sites.push_back({.kind = HeapKind::shared});
  track.sites.push_back({.kind = HeapKind::stack});
  track.rows[0].cells.push_back({4, 20e6, 1});
  track.rows[0].cells.push_back({5, 8e6, 1});
  const Ledger ledger = make_ledger(resident(500), &track);
  auto lines = lines_of(ledger);
  EXPECT_EQ(lines["live-heap"], 100);
  EXPECT_EQ(lines["shared"], 20);
  EXPECT_EQ(lines["thread-stacks"], 8);
}

TEST(Ledger, SampledFigureCarriesItsError) {
  HeapTrack track = track_with(100e6, 0, 0, 0, false);
  track.exact = false;
  track.interval_bytes = 524288;
  track.sites[0].live_variance = 9e12;
  track.sites[1].live_variance = 16e12;
  track.rows[0].allocator_in_use = 110e6;
  const Ledger ledger = make_ledger(resident(500), &track);
  EXPECT_EQ(ledger.lines[0].source, "tracer, a sample every 512 KiB, give or take 5.00 MB");
  // The difference to what is in use would be that error.
  EXPECT_EQ(lines_of(ledger).count("allocator-overhead"), 0u);
}

TEST(Ledger, WithoutATracerTheAllocatorSpeaksForTheHeap) {
  const LedgerAllocator allocator{
      .name = "glibc", .in_use = 300'000'000, .free = 150'000'000, .system = 450'000'000};
  const Ledger ledger = make_ledger(resident(500), nullptr, &allocator);
  auto lines = lines_of(ledger);
  EXPECT_EQ(lines["live-heap"], 300);
  EXPECT_EQ(lines["allocator-held"], 150);
  EXPECT_NEAR(ledger.rest_mb, 50.004096, 1e-9);
}

TEST(Ledger, WithNeitherTheHeapIsInTheRestAndANoteSaysSo) {
  const Ledger ledger = make_ledger(resident(500), nullptr);
  EXPECT_NEAR(ledger.rest_mb, 500.004096, 1e-9);
  ASSERT_EQ(ledger.notes.size(), 1u);
  EXPECT_THAT(ledger.notes[0], HasSubstr("not traced"));
}

TEST(Ledger, LinesAndRestAreAlwaysTheWholeOfRss) {
  EXPECT_TRUE(rc::check("adds up", [] {
    const auto bytes = [] { return *rc::gen::inRange<uint64_t>(0, uint64_t{1} << 40); };
    ResidentByMapping r;
    r.heap = bytes();
    r.anonymous = bytes();
    r.stacks = bytes();
    r.file = bytes();
    r.file_written = bytes();
    r.shared = bytes();
    r.other = bytes();
    r.rss = r.heap + r.anonymous + r.stacks + r.file + r.file_written + r.shared + r.other;
    // A reading that was torn apart adds up all the same.
    if (*rc::gen::inRange(0, 5) == 0) r.rss = bytes();
    const auto real = [&bytes] { return static_cast<double>(bytes()); };
    HeapTrack track = track_with(real(), real(), real(), real(), *rc::gen::arbitrary<bool>());
    track.exact = *rc::gen::arbitrary<bool>();
    track.sites[0].live_variance = real();
    const auto maybe = [&] { return *rc::gen::arbitrary<bool>() ? real() : -1; };
    track.rows[0].others_bytes = real();
    track.rows[0].allocator_in_use = maybe();
    track.rows[0].allocator_free = maybe();
    track.rows[0].allocator_system = maybe();
    const LedgerAllocator asked{.name = "jemalloc", .in_use = bytes(), .free = bytes()};
    const bool is_traced = *rc::gen::arbitrary<bool>();
    const bool is_asked = *rc::gen::arbitrary<bool>();

    const Ledger ledger = make_ledger(r, is_traced ? &track : nullptr, is_asked ? &asked : nullptr);

    RC_ASSERT(sum_bytes(ledger) == static_cast<int64_t>(r.rss));
    RC_ASSERT(ledger.rest_mb >= 0);
    for (const LedgerLine& line : ledger.lines) {
      RC_ASSERT(line.mb >= 0);
      RC_ASSERT(!line.source.empty());
    }
  }));
}

// ------------------------------------------------------------------ growth

Run run_with(double start_s) {
  Run run;
  run.heap_start_s = start_s;
  run.epoch_time = start_s > 0;
  run.processes = {{.id = 5}, {.id = 7}};
  Series rss{.process = 1, .metric = Metric::rss, .label = "rss"};
  Series file{.process = 1, .metric = Metric::file, .label = "file"};
  for (int i = 0; i <= 10; ++i) {
    run.instants.push_back({.step = i, .time_s = start_s + i});
    rss.mb.push_back(i == 4 ? kMissing : 100 + 20.0 * i);
    file.mb.push_back(10 + 1.0 * i);
  }
  run.series = {rss, file};
  return run;
}

HeapTrack growing_track() {
  HeapTrack track = track_with(0, 0, 0, 0, true);
  track.pid = 7;
  track.rows.clear();
  for (int i = 0; i < 3; ++i) {
    HeapRow row;
    row.time_s = 2 + 2.5 * i;
    row.step = 10 * i;
    row.cells = {{0, 1e6 + 30e6 * i, 1}, {2, 2e6 * i, 1}, {3, 5e6 * i, 1}};
    row.allocator_free = 4e6 * i;
    track.rows.push_back(row);
  }
  return track;
}

TEST(LedgerGrowth, EachLineIsADifferenceAndTheySumToTheGrowthOfRss) {
  for (const double start_s : {0.0, 1.7e9}) {
    const auto made = ledger_growth(run_with(start_s), growing_track(), 0, 2);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const Ledger& change = made.value().change;
    auto lines = lines_of(change);
    EXPECT_NEAR(change.rss_mb, 100, 1e-6);  // From 2 s to 7 s.
    EXPECT_EQ(lines["live-heap"], 64);
    EXPECT_EQ(lines["arenas-free"], 6);
    EXPECT_EQ(lines["allocator-held"], 8);
    EXPECT_NEAR(lines["files"], 5, 1e-6);
    EXPECT_NEAR(change.rest_mb, 17, 1e-6);
    EXPECT_EQ(made.value().from_step, 0);
    EXPECT_EQ(made.value().to_step, 20);
    EXPECT_EQ(made.value().to_s, 7);
  }
}

TEST(LedgerGrowth, StacksOfThreadsHaveALineWhereTheTracerKnowsThem) {
  HeapTrack track = growing_track();
  track.sites.push_back({.kind = HeapKind::stack});
  track.rows[2].cells.push_back({4, 3e6, 6});
  const auto made = ledger_growth(run_with(0), track, 0, 2);
  ASSERT_TRUE(made.ok()) << made.error().message;
  auto lines = lines_of(made.value().change);
  EXPECT_EQ(lines["live-heap"], 64);
  EXPECT_EQ(lines["thread-stacks"], 3);
  EXPECT_NEAR(made.value().change.rest_mb, 14, 1e-6);
}

TEST(LedgerGrowth, HeldMemoryIsMeasuredTheSameWayAtBothMoments) {
  HeapTrack track = growing_track();  // Blocks of 1 MB, 31 MB, 61 MB.
  for (HeapRow& row : track.rows) {
    row.allocator_in_use = 1e6;  // Answered once, before the growth.
    row.allocator_system = 70e6;
  }
  const auto made = ledger_growth(run_with(0), track, 0, 2);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(lines_of(made.value().change)["allocator-held"], -60);
}

TEST(LedgerGrowth, SampledChangeCarriesTheErrorOfItsRowNotOfTheEmptyEnd) {
  HeapTrack track = growing_track();
  track.exact = false;
  track.interval_bytes = 524288;
  track.sites[0].allocated_blocks = 100;
  track.sites[0].allocated_bytes = 100 * 262144.0;
  track.sites[0].live_variance = 0;  // All was given back on the way out.
  const auto made = ledger_growth(run_with(0), track, 0, 2);
  ASSERT_TRUE(made.ok());
  // 61 MB in blocks of 256 KiB, p = 0.393: the root of 61e6 x 262144 x 0.607 / 0.393.
  EXPECT_EQ(made.value().change.lines[0].source,
            "tracer, a sample every 512 KiB, give or take 4.96 MB");
}

TEST(LedgerGrowth, BetweenReadingsTheValueIsBetweenThem) {
  const auto made = ledger_growth(run_with(0), growing_track(), 0, 1);
  ASSERT_TRUE(made.ok());
  EXPECT_NEAR(made.value().change.rss_mb, 50, 1e-9);  // From 2 s to 4.5 s; 4 s was not read.
}

TEST(LedgerGrowth, RowsOrProcessesThatAreNotThereAreAnError) {
  const HeapTrack track = growing_track();
  EXPECT_FALSE(ledger_growth(run_with(0), track, 1, 1).ok());
  EXPECT_FALSE(ledger_growth(run_with(0), track, 0, 3).ok());
  HeapTrack other = track;
  other.pid = 5;
  const auto made = ledger_growth(run_with(0), other, 0, 1);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("no resident memory of pid 5"));
}

}  // namespace
}  // namespace plateau
