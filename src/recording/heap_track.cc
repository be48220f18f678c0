// SPDX-License-Identifier: Apache-2.0
#include "recording/heap_track.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace plateau {
namespace {

constexpr std::array<std::string_view, 6> kKindNames = {"heap",  "mapping", "python",
                                                        "arena", "shared",  "stack"};

std::string check_stacks(const HeapTrack& track) {
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

std::string check_sites(const HeapTrack& track) {
  if (track.sites.size() > HeapTrack::kMaxSites) return "there are too many sites";
  for (size_t i = 0; i < track.sites.size(); ++i) {
    if (track.sites[i].stack >= track.stacks.size()) {
      return fmt::format("site {} names stack {} of {}", i, track.sites[i].stack,
                         track.stacks.size());
    }
  }
  return "";
}

std::string check_cells(const HeapRow& row, size_t sites) {
  int64_t last = -1;
  for (const HeapCell& cell : row.cells) {
    if (cell.site >= sites) return fmt::format("names site {} of {}", cell.site, sites);
    if (int64_t{cell.site} <= last) return "does not have its sites in order";
    if (!(cell.live_bytes >= 0) || !(cell.live_blocks >= 0)) return "has less than nothing alive";
    last = cell.site;
  }
  return "";
}

std::string check_rows(const HeapTrack& track) {
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

}  // namespace

double sampling_variance(const HeapTrack& track, const HeapSite& site, double live_bytes) {
  const bool sampled = !track.exact && track.interval_bytes > 0 &&
                       (site.kind == HeapKind::heap || site.kind == HeapKind::python);
  if (!sampled || site.allocated_blocks <= 0) return 0;
  const double block = site.allocated_bytes / site.allocated_blocks;
  const double missed = std::exp(-block / track.interval_bytes);
  const double per_byte = missed >= 1 ? track.interval_bytes : block * missed / (1 - missed);
  return per_byte * live_bytes;
}

std::string_view heap_kind_name(HeapKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

double live_bytes_at(const HeapTrack& track, const HeapRow& row) {
  double bytes = row.others_bytes;
  for (const HeapCell& cell : row.cells) {
    const bool held_inside = track.python_hooked && track.sites[cell.site].kind == HeapKind::arena;
    if (!held_inside) bytes += cell.live_bytes;
  }
  return bytes;
}

double live_bytes_at(const HeapTrack& track, const HeapRow& row, HeapKind kind) {
  double bytes = 0;
  for (const HeapCell& cell : row.cells) {
    if (track.sites[cell.site].kind == kind) bytes += cell.live_bytes;
  }
  return bytes;
}

std::string check_heap_track(const HeapTrack& track) {
  for (const auto check : {check_stacks, check_sites, check_rows}) {
    std::string trouble = check(track);
    if (!trouble.empty()) return trouble;
  }
  return "";
}

}  // namespace plateau
