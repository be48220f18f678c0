// SPDX-License-Identifier: Apache-2.0
// What the keeper needs for one event, read from a segment as a malloc storm fills it: 1024 stacks,
// some thousand or a million blocks alive, an alloc and a free each turn.
//
//   tools/build.sh --bench release heap_keeper && build/release/heap_keeper
//
// "one lane" is a program with one thread; "four lanes" mixes events of four, so that every free is
// remembered for a round.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <random>

#include "heap/growth_profile.h"
#include "heap/mapped_segment.h"
#include "heap/testing/fake_tracer.h"

namespace plateau {
namespace {

constexpr uint64_t kStacks = 1024;
constexpr size_t kEventsPerRound = 40000;

struct StormEvent {
  bool is_free = false;
  trace::AllocRecord made;
  trace::FreeRecord ended;
};

class Storm {
 public:
  explicit Storm(size_t live) : slots_(live) {}

  StormEvent next() {
    StormEvent event;
    uint64_t& slot = slots_[random_() % slots_.size()];
    stamp_ += 50;
    event.is_free = slot != 0;
    if (event.is_free) {
      event.ended = free_record(slot, stamp_);
      free_.push_back(slot);
      slot = 0;
      return event;
    }
    if (free_.empty()) free_.push_back(top_ += 48 + random_() % 4096 / 16 * 16);
    slot = free_.back();
    free_.pop_back();
    event.made = alloc_record(slot, 8 + random_() % 4000, 1 + random_() % kStacks, stamp_);
    return event;
  }

 private:
  std::mt19937_64 random_{1};
  std::vector<uint64_t> slots_;
  std::vector<uint64_t> free_;
  uint64_t top_ = 0x10000;
  uint64_t stamp_ = 1;
};

void drain(benchmark::State& state) {
  const auto live = static_cast<size_t>(state.range(0));
  const auto lanes = static_cast<size_t>(state.range(1));
  std::string directory = "/tmp/plateau-bench-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) return state.SkipWithError("no directory");
  FakeTracer tracer(directory, 42);
  Result<MappedSegment> opened = MappedSegment::open(tracer.path());
  if (!opened) return state.SkipWithError(opened.error().message.c_str());
  MappedSegment& segment = opened.value();
  StepMarks marks;
  GrowthProfile profile(&marks);
  Storm storm(live);
  const auto fill = [&](size_t events) {
    for (size_t i = 0; i < events; ++i) {
      const StormEvent event = storm.next();
      if (event.is_free) tracer.put(i % lanes, event.ended);
      if (!event.is_free) tracer.put(i % lanes, event.made);
    }
  };
  const auto round = [&] {
    const MappedSegment::Cut cut = segment.cut();
    profile.begin_round(cut.ordered);
    segment.drain(cut, profile);
    profile.end_round();
  };
  for (uint64_t id = 1; id <= kStacks; ++id) tracer.put(0, stack_words(id, {id, id + 1}));
  round();
  for (size_t warm = 0; warm < live * 3; warm += kEventsPerRound) {
    fill(kEventsPerRound);
    round();
  }
  for (auto _ : state) {
    state.PauseTiming();
    fill(kEventsPerRound);
    state.ResumeTiming();
    round();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kEventsPerRound));
  state.counters["ns_per_event"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kEventsPerRound * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  std::filesystem::remove_all(directory);
}

BENCHMARK(drain)
    ->ArgNames({"live", "lanes"})
    ->Args({4096, 1})
    ->Args({4096, 4})
    ->Args({1000000, 1})
    ->Args({1000000, 4})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace plateau

BENCHMARK_MAIN();
