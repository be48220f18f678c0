// SPDX-License-Identifier: Apache-2.0
#include "merging.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "recording/recording.h"
#include "score.h"

namespace plateau::bench {
namespace {

// How many of the looks may change their word, between two neighbours such as leak and undecided,
// when a trace of some hundred instants is held in so few rows, and how many of them at the end of
// a trace (teeth that a few rows can no longer show). None may ever turn into its opposite. A
// recording keeps 4096 rows.
struct Size {
  size_t max_rows;
  size_t most_changed;
  size_t most_at_end;
};
constexpr Size kSizes[] = {{size_t{1} << 16, 0, 0}, {256, 0, 0}, {128, 6, 1}, {64, 17, 2}};
constexpr double kKbPerMb = 1e6 / 1024;

struct Tally {
  size_t looks = 0;
  size_t merged = 0;  // Looks at which rows were merged at all.
  size_t changed = 0;
  size_t changed_at_end = 0;
  size_t opposite = 0;  // A leak called bounded, or the other way round.
};

bool is_bounded(Word word) {
  return word == Word::plateau || word == Word::warming;
}

void compare(const Trace& trace, const Run& run, size_t max_rows, int tenth, Tally& tally) {
  const Word before = judge(run).word;
  const Run again = recorded(run, max_rows);
  const Word after = judge(again).word;
  ++tally.looks;
  tally.merged += run.instants.size() >= max_rows;
  if (before == after) return;
  ++tally.changed;
  tally.changed_at_end += tenth == 10;
  tally.opposite +=
      (before == Word::leak && is_bounded(after)) || (after == Word::leak && is_bounded(before));
  fmt::print("  {} rows: {} at {} %: {} instants {}, recorded {} instants {}\n", max_rows,
             trace.name, 10 * tenth, run.instants.size(), word_name(before), again.instants.size(),
             word_name(after));
}

}  // namespace

Run recorded(const Run& run, size_t max_rows) {
  auto made = RecordingWriter::create("", {}, max_rows);
  RecordingWriter& writer = made.value();
  for (const Process& process : run.processes) writer.process(process, 0);
  std::vector<size_t> columns;
  for (const Series& series : run.series) {
    columns.push_back(writer.memory_column(series.process, series.metric));
  }
  std::vector<size_t> gauges;
  for (const Gauge& gauge : run.gauges) {
    gauges.push_back(writer.gauge_column(gauge.process, gauge.name));
  }
  size_t event = 0;
  const double start_s = run.has_times() ? run.instants.front().time_s : 0;
  for (size_t i = 0; i < run.instants.size(); ++i) {
    const Instant& at = run.instants[i];
    Sample row{.at = at};
    row.at.time_s = run.has_times() ? at.time_s - start_s : static_cast<double>(i);
    for (size_t c = 0; c < columns.size(); ++c) {
      const double mb = run.series[c].mb[i];
      if (std::isfinite(mb)) row.set_kb(columns[c], std::llround(mb * kKbPerMb));
    }
    for (size_t c = 0; c < gauges.size(); ++c) row.set_gauge(gauges[c], run.gauges[c].value[i]);
    for (; event < run.events.size() && run.events[event].instant <= i; ++event) {
      writer.event(run.events[event].kind, run.events[event].text, row.at.time_s);
    }
    writer.row(row);
  }
  Run result = writer.run();
  result.context = run.context;
  return result;
}

bool report_merging(const std::vector<Trace>& traces) {
  bool held = true;
  for (const Size& size : kSizes) {
    Tally tally;
    for (const Trace& trace : traces) {
      for (int tenth = 3; tenth <= 10; ++tenth) {
        compare(trace, first_tenths(trace.run, tenth), size.max_rows, tenth, tally);
      }
    }
    fmt::print(
        "{} rows: {} of {} verdicts the same; merged {}, of which changed {} (at most {}), at the "
        "end of the trace {}, into the opposite {}\n",
        size.max_rows, tally.looks - tally.changed, tally.looks, tally.merged, tally.changed,
        size.most_changed, tally.changed_at_end, tally.opposite);
    held &= tally.opposite == 0 && tally.changed_at_end <= size.most_at_end &&
            tally.changed <= size.most_changed;
  }
  return held;
}

}  // namespace plateau::bench
