// SPDX-License-Identifier: Apache-2.0
// For tests and fuzzers: does what was made hang together?
#pragma once

#include <fmt/format.h>

#include <string>

#include "recording/heap_track.h"
#include "recording/run.h"

namespace plateau {

inline std::string check_stacks(const HeapTrack& track) {
  for (size_t i = 0; i < track.stacks.size(); ++i) {
    for (const PythonFrame& frame : track.stacks[i].python) {
      if (frame.code >= track.codes.size()) {
        return fmt::format("stack {} names Python code {} of {}", i, frame.code,
                           track.codes.size());
      }
    }
  }
  return "";
}

inline std::string check_sites(const HeapTrack& track) {
  if (track.sites.size() > HeapTrack::kMaxSites) return "there are too many sites";
  for (size_t i = 0; i < track.sites.size(); ++i) {
    if (track.sites[i].stack >= track.stacks.size()) {
      return fmt::format("site {} names stack {} of {}", i, track.sites[i].stack,
                         track.stacks.size());
    }
  }
  return "";
}

inline std::string check_cells(const HeapRow& row, size_t sites) {
  int64_t last = -1;
  for (const HeapCell& cell : row.cells) {
    if (cell.site >= sites) return fmt::format("names site {} of {}", cell.site, sites);
    if (int64_t{cell.site} <= last) return "does not have its sites in order";
    if (!(cell.live_bytes >= 0) || !(cell.live_blocks >= 0)) return "has less than nothing alive";
    last = cell.site;
  }
  return "";
}

inline std::string check_rows(const HeapTrack& track) {
  if (track.rows.size() > HeapTrack::kMaxHeapRows) return "there are too many rows";
  double time_s = 0;
  int64_t step = -1;
  for (size_t i = 0; i < track.rows.size(); ++i) {
    const HeapRow& row = track.rows[i];
    if (!(row.time_s >= time_s)) return fmt::format("time falls at row {}", i);
    if (row.step < step) return fmt::format("the step falls at row {}", i);
    const std::string trouble = check_cells(row, track.sites.size());
    if (!trouble.empty()) return fmt::format("row {} {}", i, trouble);
    time_s = row.time_s;
    step = row.step;
  }
  return "";
}

// "" if all indices exist and rows are in order; else one sentence.
inline std::string check_heap_track(const HeapTrack& track) {
  for (const auto check : {check_stacks, check_sites, check_rows}) {
    std::string trouble = check(track);
    if (!trouble.empty()) return trouble;
  }
  return "";
}

// "" if every column has one value per instant, process indices exist and events point at rows;
// else one sentence naming what does not fit.
inline std::string check_shape(const Run& run) {
  for (const Series& series : run.series) {
    if (series.mb.size() != run.instants.size()) return "series " + series.label + " is ragged";
    if (series.process >= run.processes.size()) return "series " + series.label + " has no process";
  }
  for (const Gauge& gauge : run.gauges) {
    if (gauge.value.size() != run.instants.size()) return "gauge " + gauge.name + " is ragged";
    if (gauge.process >= run.processes.size()) return "gauge " + gauge.name + " has no process";
  }
  for (const Event& event : run.events) {
    if (event.instant >= run.instants.size()) return "event '" + event.text + "' is past the end";
  }
  return "";
}

}  // namespace plateau
