// SPDX-License-Identifier: Apache-2.0
#include "recording/heap_track.h"

#include <array>
#include <cmath>

namespace plateau {

namespace {

constexpr std::array<std::string_view, 7> kKindNames = {"heap",   "mapping", "python", "arena",
                                                        "shared", "stack",   "device"};

}  // namespace

HeapTrack::HeapTrack() = default;
HeapTrack::HeapTrack(const HeapTrack& other) = default;
HeapTrack::HeapTrack(HeapTrack&& other) noexcept = default;
HeapTrack& HeapTrack::operator=(const HeapTrack& other) = default;
HeapTrack& HeapTrack::operator=(HeapTrack&& other) noexcept = default;
HeapTrack::~HeapTrack() = default;

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

}  // namespace plateau
