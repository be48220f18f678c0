// SPDX-License-Identifier: Apache-2.0
#include "ledger/allocator_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace plateau {
namespace {

constexpr double kMostRounding = 0.25;  // Of the bytes; jemalloc's size classes are so far apart.
constexpr double kMostHeaderBytes = 32;
constexpr double kOlderBytes = 1e6;

std::optional<uint64_t> figure(double bytes) {
  if (!(bytes >= 0)) return std::nullopt;
  return static_cast<uint64_t>(std::llround(std::min(bytes, 0x1p60)));
}

double real(uint64_t bytes) {
  return static_cast<double>(bytes);
}

}  // namespace

TracedBlocks traced_blocks(const HeapTrack& track, const HeapRow& row) {
  TracedBlocks traced;
  traced.bytes = row.others_bytes;
  double variance = 0;
  for (const HeapCell& cell : row.cells) {
    const HeapSite& site = track.sites[cell.site];
    if (site.kind != HeapKind::heap) continue;
    traced.bytes += cell.live_bytes;
    traced.blocks += cell.live_blocks;
    variance += std::max(site.live_variance, sampling_variance(track, site, cell.live_bytes));
  }
  traced.error_bytes = std::sqrt(std::max(variance, 0.0));
  return traced;
}

LedgerAllocator allocator_in(const HeapTrack& track, const HeapRow& row) {
  return {.name = track.allocator,
          .in_use = figure(row.allocator_in_use),
          .free = figure(row.allocator_free),
          .system = figure(row.allocator_system)};
}

std::optional<double> free_in(const LedgerAllocator& allocator) {
  if (allocator.free) return real(*allocator.free);
  if (!allocator.system || !allocator.in_use) return std::nullopt;
  return std::max(real(*allocator.system) - real(*allocator.in_use), 0.0);
}

std::optional<double> held_beside(const LedgerAllocator& allocator, const TracedBlocks& traced) {
  if (!allocator.system) return std::nullopt;
  return std::max(real(*allocator.system) - traced.bytes, 0.0);
}

bool fit_together(const LedgerAllocator& allocator, const TracedBlocks& traced) {
  if (!allocator.in_use) return true;
  const double beyond = real(*allocator.in_use) - traced.bytes;
  const double error = 3 * traced.error_bytes;
  const double most = kMostRounding * traced.bytes + kMostHeaderBytes * traced.blocks + kOlderBytes;
  return beyond <= most + error && beyond >= -error - kOlderBytes;
}

std::string tracer_source(const HeapTrack& track, double error_bytes) {
  if (track.exact) return "tracer, every allocation";
  return fmt::format("tracer, a sample every {:.0f} KiB, give or take {}",
                     track.interval_bytes / 1024, format_mb(error_bytes / kBytesPerMb));
}

}  // namespace plateau
