// SPDX-License-Identifier: Apache-2.0
// From the log to the table that is judged.
//
// A Run is a full table, and a job that starts new data workers every epoch has thousands of
// processes in a day: 8,000 of them with 12 columns each would make a table of 6 GB. So the
// kMaxRunProcesses processes that were there longest stand for themselves, and all others are added
// up, one process per role. Sums over the tree are the same; what is lost is which of the
// short-lived workers owned what.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "base/units.h"
#include "recording/heap_track_codec.h"
#include "recording/recording_log.h"

namespace plateau {
namespace {

// What was sampled before the first known step stands right before it: at 0 for a job that starts
// with step 1, at 499 for one that resumes at 500 or is watched from there on.
void place_before_first_step(Run& run) {
  size_t first = 0;
  while (first < run.instants.size() && run.instants[first].step < 0) ++first;
  if (first == run.instants.size()) return;
  const int64_t before = std::max<int64_t>(0, run.instants[first].step - 1);
  for (size_t i = 0; i < first; ++i) run.instants[i].step = before;
}

constexpr double kMbPerKb = 1024 / kBytesPerMb;
constexpr size_t kNone = static_cast<size_t>(-1);
constexpr int64_t kFoldedId = 10'000'000'000;  // Far above all pids, and above reused ones.

}  // namespace

// Which rows of the Run's table the columns of the log go to.
class RecordingLog::Table {
 public:
  Table(const RecordingLog& log, Run& run) : log_(log), run_(run) {
    place_processes();
    place_columns();
  }

  void put(const Sample& sample, size_t instant) {
    for (size_t i = 0; i < sample.present.size(); ++i) {
      if (sample.present[i] == 0 || place_[i] == kNone) continue;
      if (log_.columns_[i].is_gauge) {
        run_.gauges[place_[i]].value[instant] = std::bit_cast<double>(sample.cells[i]);
        continue;
      }
      // In kB until the end, so that sums are exact.
      double& sum = run_.series[place_[i]].mb[instant];
      const auto kb = static_cast<double>(sample.cells[i]);
      sum = std::isnan(sum) ? kb : sum + kb;
    }
  }

  void finish(size_t instants) {
    for (Series& series : run_.series) {
      series.mb.resize(instants);
      for (double& value : series.mb) value *= kMbPerKb;
    }
    for (Gauge& gauge : run_.gauges) gauge.value.resize(instants);
  }

 private:
  // Samples in which each process had a value, as far as the kept ones tell.
  [[nodiscard]] std::vector<uint64_t> lives() const {
    std::vector<uint64_t> life(log_.processes_.size());
    std::vector<uint64_t> counted(log_.processes_.size(), UINT64_MAX);
    log_.each_row([&](const SampleSpan& span) {
      for (size_t i = 0; i < log_.columns_.size(); ++i) {
        const size_t process = log_.columns_[i].process;
        if (counted[process] == span.first_serial) continue;
        if (!span.early.has(i) && !(span.two && span.late.has(i))) continue;
        counted[process] = span.first_serial;
        life[process] += span.count;
      }
    });
    return life;
  }

  void place_processes() {
    const size_t count = log_.processes_.size();
    home_.assign(count, kNone);
    std::vector<bool> kept(count, count <= kMaxRunProcesses);
    if (count > kMaxRunProcesses) {
      const std::vector<uint64_t> life = lives();
      std::vector<size_t> order(count);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&life](size_t a, size_t b) { return life[a] > life[b]; });
      for (size_t i = 0; i < kMaxRunProcesses; ++i) kept[order[i]] = true;
    }
    for (size_t i = 0; i < count; ++i) {
      if (!kept[i]) continue;
      home_[i] = run_.processes.size();
      run_.processes.push_back(log_.processes_[i].process);
    }
    fold(kept);
  }

  void fold(const std::vector<bool>& kept) {
    std::map<Role, std::vector<size_t>> others;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (!kept[i]) others[log_.processes_[i].process.role].push_back(i);
    }
    std::map<int64_t, int64_t> new_id;
    for (const auto& [role, members] : others) {
      Process sum;
      sum.id = kFoldedId + static_cast<int64_t>(role);
      while (log_.has_id(sum.id)) sum.id += 100;
      sum.role = role;
      sum.name = fmt::format("{} short-lived processes, added up", members.size());
      sum.role_reason = fmt::format("of {} processes the {} longest-lived are shown singly",
                                    kept.size(), kMaxRunProcesses);
      for (const size_t member : members) {
        home_[member] = run_.processes.size();
        folded_.resize(run_.processes.size() + 1);
        folded_[home_[member]] = true;
        new_id[log_.processes_[member].process.id] = sum.id;
      }
      run_.processes.push_back(std::move(sum));
    }
    for (Process& process : run_.processes) {
      const auto found = new_id.find(process.parent);
      if (found != new_id.end()) process.parent = found->second;
    }
  }

  void place_columns() {
    const size_t instants = 2 * log_.rows_.size();
    size_t room = kMaxRunCells / std::max<size_t>(instants, 1);
    size_t left_out = 0;
    place_.assign(log_.columns_.size(), kNone);
    std::map<std::pair<size_t, Metric>, size_t> shared;  // Series of processes that are added up.
    for (size_t i = 0; i < log_.columns_.size(); ++i) {
      const RecordedColumn& column = log_.columns_[i];
      const size_t home = home_[column.process];
      const bool is_folded = home < folded_.size() && folded_[home];
      const std::pair key(home, column.metric);
      if (is_folded && column.is_gauge) continue;
      if (is_folded && shared.count(key) > 0) {
        place_[i] = shared[key];
        continue;
      }
      if (room == 0) {
        ++left_out;
        continue;
      }
      --room;
      place_[i] = add_column(column, home, instants);
      if (is_folded) shared[key] = place_[i];
    }
    if (left_out > 0) {
      run_.notes.push_back(fmt::format("{} columns were left out: the table would be too large",
                                       format_count(static_cast<int64_t>(left_out))));
    }
  }

  size_t add_column(const RecordedColumn& column, size_t home, size_t instants) {
    if (column.is_gauge) {
      run_.gauges.push_back({column.name, home, std::vector<double>(instants, kMissing)});
      return run_.gauges.size() - 1;
    }
    run_.series.push_back({.process = home,
                           .metric = column.metric,
                           .label = std::string(metric_name(column.metric)),
                           .mb = std::vector<double>(instants, kMissing)});
    return run_.series.size() - 1;
  }

  const RecordingLog& log_;
  Run& run_;
  std::vector<size_t> home_;   // Of a process of the log among those of the Run.
  std::vector<bool> folded_;   // By process of the Run: does it stand for several?
  std::vector<size_t> place_;  // Of a column among the series or the gauges; kNone: nowhere.
};

Run RecordingLog::to_run(bool with_heaps) const {
  Run run;
  run.command = head_.head.command;
  run.host = head_.head.host;
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

  Table table(*this, run);
  std::vector<uint64_t> serials;
  const auto put = [&](const Sample& sample) {
    table.put(sample, serials.size());
    serials.push_back(sample.serial);
    run.instants.push_back(sample.at);
    run.instants.back().time_s += start_s;
  };
  each_row([&put](const SampleSpan& span) {
    put(span.early);
    if (span.two) put(span.late);
  });
  table.finish(serials.size());
  place_before_first_step(run);
  fill_events(run, serials);
  if (with_heaps) fill_heaps(run);
  run.holders = holders_;
  if (!run.heaps.empty()) run.heap_start_s = start_s;
  return run;
}

// A track that cannot be read costs the track, not the recording.
void RecordingLog::fill_heaps(Run& run) const {
  size_t room = kMaxRunHeapBytes;
  size_t left_out = 0;
  for (const StoredHeap& heap : heaps_) {
    const size_t size = heap_track_plain_bytes(heap.track);
    if (size > room) {
      ++left_out;
      continue;
    }
    Result<HeapTrack> track = decode_heap_track(heap.track);
    if (!track.ok()) {
      run.notes.push_back(fmt::format("pid {}: {}", heap.pid, track.error().message));
      continue;
    }
    room -= size;
    track.value().pid = heap.pid;
    run.heaps.push_back(std::move(track.value()));
  }
  if (left_out > 0) {
    run.notes.push_back(
        fmt::format("heap tracks of {} processes were left out: together they are "
                    "too large",
                    left_out));
  }
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
