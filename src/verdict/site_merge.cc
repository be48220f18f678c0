// SPDX-License-Identifier: Apache-2.0
#include "verdict/site_merge.h"

#include <algorithm>

namespace plateau {
namespace {

// What makes one member the largest: what it ever allocated, because a site may hold nothing now.
void add_member(const HeapSite& member, double& largest_bytes, HeapSite& sum) {
  if (member.allocated_bytes > largest_bytes) {
    largest_bytes = member.allocated_bytes;
    sum.stack = member.stack;
    sum.kind = member.kind;
  }
  sum.allocated_bytes += member.allocated_bytes;
  sum.allocated_blocks += member.allocated_blocks;
  sum.freed_bytes += member.freed_bytes;
  sum.freed_blocks += member.freed_blocks;
  sum.live_variance += member.live_variance;
  for (size_t i = 0; i < kAgeBuckets; ++i) {
    sum.freed_age[i] += member.freed_age[i];
    sum.live_age[i] += member.live_age[i];
  }
}

std::vector<HeapSite> sum_sites(const HeapTrack& track, const std::vector<uint32_t>& group) {
  uint32_t count = 0;
  for (const uint32_t index : group) {
    if (index != kLeftOut) count = std::max(count, index + 1);
  }
  std::vector<HeapSite> sums(count);
  std::vector<double> largest(count, -1);
  for (size_t s = 0; s < group.size(); ++s) {
    if (group[s] == kLeftOut) continue;
    const HeapSite& member = track.sites[s];
    HeapSite& sum = sums[group[s]];
    const bool first = largest[group[s]] < 0;
    sum.first_step = first ? member.first_step : std::min(sum.first_step, member.first_step);
    add_member(member, largest[group[s]], sum);
  }
  return sums;
}

void sum_rows(const std::vector<uint32_t>& group, HeapTrack& merged) {
  std::vector<HeapCell> sums(merged.sites.size());
  for (HeapRow& row : merged.rows) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = {.site = static_cast<uint32_t>(i)};
    for (const HeapCell& cell : row.cells) {
      if (group[cell.site] == kLeftOut) continue;
      sums[group[cell.site]].live_bytes += cell.live_bytes;
      sums[group[cell.site]].live_blocks += cell.live_blocks;
    }
    row.cells.clear();
    for (const HeapCell& sum : sums) {
      if (sum.live_bytes <= 0 && sum.live_blocks <= 0) continue;
      row.cells.push_back(sum);
      double& peak = merged.sites[sum.site].peak_bytes;
      peak = std::max(peak, sum.live_bytes);
    }
  }
}

}  // namespace

HeapTrack merge_sites(const HeapTrack& track, const std::vector<uint32_t>& group) {
  HeapTrack merged = track;
  merged.sites = sum_sites(track, group);
  sum_rows(group, merged);
  return merged;
}

}  // namespace plateau
