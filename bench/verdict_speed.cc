// SPDX-License-Identifier: Apache-2.0
// verdict_speed: CPU time of a whole verdict (signals to sentences) on 300 samples, and of 10,000
// different series of that length on one core; the targets are 0.3 ms and 10 s. And what a page
// asks of a recording of 24 h, 8,192 instants of 21 processes with 13 columns each: the verdict, 96
// moments of hindsight, the forecast and the clocks.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <ctime>
#include <string>

#include "verdict/event_growth.h"
#include "verdict/hindsight.h"
#include "verdict/test_runs.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

constexpr int64_t kSamples = 300;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Flat, saturating, epoch hinge, leak or staircase, in turn.
Run series(uint64_t number) {
  Noise noise(number);
  Run run;
  run.processes = {Process{}};
  run.context.epoch_steps = Fact{90, "bench"};
  Series rss{.process = 0, .metric = Metric::rss, .label = "rss", .mb = {}};
  for (int64_t step = 1; step <= kSamples; ++step) {
    const auto t = static_cast<double>(step);
    double mb = 2000 + 10 * noise();
    switch (number % 5) {
      case 1:
        mb += 800 * (1 - std::exp(-t / 40));
        break;
      case 2:
        mb += 9 * std::min(t, 90.0);
        break;
      case 3:
        mb += 2 * t;
        break;
      case 4:
        mb += 60 * std::floor(t / 50);
        break;
      default:
        break;
    }
    run.instants.push_back({.step = step});
    rss.mb.push_back(mb);
  }
  run.series = {rss};
  return run;
}

void one_by_one() {
  for (uint64_t kind = 0; kind < 5; ++kind) {
    const Run run = series(kind);
    double best = 1e9;
    Word word = Word::undecided;
    for (int round = 0; round < 50; ++round) {
      const double begin = cpu_seconds();
      word = judge(run).word;
      best = std::min(best, cpu_seconds() - begin);
    }
    fmt::print("one verdict, {} samples, {:<10} {:.2f} ms\n", kSamples, word_name(word),
               1e3 * best);
  }
}

void ten_thousand() {
  double spent = 0;
  size_t leaks = 0;
  for (uint64_t number = 0; number < 10000; ++number) {
    const Run run = series(number);
    const double begin = cpu_seconds();
    leaks += judge(run).word == Word::leak;
    spent += cpu_seconds() - begin;
  }
  fmt::print("10,000 series of {} samples: {:.1f} s on one core ({} called leak)\n", kSamples,
             spent, leaks);
}

Run day_of_many_processes() {
  constexpr size_t kInstants = 8192;
  constexpr size_t kProcesses = 21;
  constexpr size_t kColumns = 13;
  Noise noise(1);
  Run run;
  run.command = "train";
  run.context.epoch_steps = Fact{1000, "bench"};
  for (size_t i = 0; i < kInstants; ++i) {
    run.instants.push_back(
        {.step = static_cast<int64_t>(3 * i), .time_s = 10.5 * static_cast<double>(i)});
    if (i % 500 == 499) run.events.push_back({i, EventKind::eval, "eval"});
  }
  for (size_t p = 0; p < kProcesses; ++p) {
    run.processes.push_back({.id = static_cast<int64_t>(100 + p), .id_is_pid = true});
    for (size_t c = 0; c < kColumns; ++c) {
      Series series{.process = p, .metric = static_cast<Metric>(c + 1), .label = "", .mb = {}};
      for (size_t i = 0; i < kInstants; ++i) {
        const double grown = p == 0 ? 0.1 * static_cast<double>(i) : 0;
        series.mb.push_back(500 + grown + 3 * noise());
      }
      run.series.push_back(std::move(series));
    }
    run.gauges.push_back(
        {.name = "threads", .process = p, .value = std::vector<double>(kInstants, 4)});
  }
  return run;
}

void a_page() {
  const Run run = day_of_many_processes();
  double begin = cpu_seconds();
  const auto lap = [&begin](std::string_view what) {
    fmt::print("8,192 instants of 21 processes, {:<20} {:.0f} ms\n", what,
               1e3 * (cpu_seconds() - begin));
    begin = cpu_seconds();
  };
  const Verdict verdict = judge(run);
  lap("verdict");
  const size_t moments = hindsight(run, 96).size();
  lap(fmt::format("{} moments", moments));
  const size_t places = judge_ahead(run).ahead.band.size();
  lap(fmt::format("forecast, {} places", places));
  const size_t clocks = growth_by_clock(run, verdict).size();
  lap(fmt::format("{} clocks", clocks));
}

}  // namespace
}  // namespace plateau

int main() {
  plateau::one_by_one();
  plateau::a_page();
  plateau::ten_thousand();
}
