// SPDX-License-Identifier: Apache-2.0
// From the log to the table that is judged.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/units.h"
#include "recording/recording_log.h"

namespace plateau {
namespace {

constexpr double kMbPerKb = 1024 / kBytesPerMb;

}  // namespace

Run RecordingLog::to_run() const {
  Run run;
  run.command = head_.head.command;
  run.context = context_;
  run.ending = ending_;
  run.notes = notes_;
  if (events_lost_ > 0) {
    run.notes.push_back(fmt::format("{} events after the first {} were left out",
                                    format_count(static_cast<int64_t>(events_lost_)),
                                    format_count(static_cast<int64_t>(events_.size()))));
  }
  if (!damage_.empty()) run.notes.push_back(damage_);
  run.epoch_time = head_.head.started_unix_s > 0;
  const double start_s = run.epoch_time ? head_.head.started_unix_s : 0;
  for (const ProcessRecord& record : processes_) run.processes.push_back(record.process);

  std::vector<size_t> place(columns_.size());  // Of a column among the series or the gauges.
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    place[i] = column.is_gauge ? run.gauges.size() : run.series.size();
    if (column.is_gauge) {
      run.gauges.push_back({.name = column.name, .process = column.process, .value = {}});
    } else {
      run.series.push_back({.process = column.process,
                            .metric = column.metric,
                            .label = std::string(metric_name(column.metric)),
                            .mb = {}});
    }
  }
  const size_t most = 2 * rows_.size();
  for (Series& series : run.series) series.mb.reserve(most);
  for (Gauge& gauge : run.gauges) gauge.value.reserve(most);

  std::vector<uint64_t> serials;
  const int64_t no_step = last_.step >= 0 ? 0 : -1;
  const auto put = [&](const Sample& sample) {
    serials.push_back(sample.serial);
    run.instants.push_back({.step = std::max(sample.step, no_step),
                            .time_s = start_s + static_cast<double>(sample.time_ms) / 1000,
                            .epoch = sample.epoch});
    for (size_t i = 0; i < columns_.size(); ++i) {
      const bool has = sample.has(i);
      if (columns_[i].is_gauge) {
        run.gauges[place[i]].value.push_back(has ? std::bit_cast<double>(sample.cells[i])
                                                 : kMissing);
      } else {
        run.series[place[i]].mb.push_back(has ? static_cast<double>(sample.cells[i]) * kMbPerKb
                                              : kMissing);
      }
    }
  };
  each_row([&put](const SampleSpan& span) {
    put(span.early);
    if (span.two) put(span.late);
  });
  fill_events(run, serials);
  return run;
}

// An event belongs to the first sample that was taken after it and is still here.
void RecordingLog::fill_events(Run& run, const std::vector<uint64_t>& serials) const {
  if (serials.empty()) return;
  for (const EventRecord& event : events_) {
    if (event.serial > samples_) break;  // Of rows that damage took away.
    const auto next = std::lower_bound(serials.begin(), serials.end(), event.serial);
    const size_t instant =
        next == serials.end() ? serials.size() - 1 : static_cast<size_t>(next - serials.begin());
    run.events.push_back({.instant = instant, .kind = event.kind, .text = event.text});
  }
}

}  // namespace plateau
