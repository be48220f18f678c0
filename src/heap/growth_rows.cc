// SPDX-License-Identifier: Apache-2.0
// The part of GrowthProfile that looks back: rows over the run, folding, and the track.
#include <algorithm>
#include <limits>

#include "base/thinning.h"
#include "heap/growth_profile.h"

namespace plateau {
namespace {

constexpr uint32_t kNotShown = std::numeric_limits<uint32_t>::max();

// Gives the cells of a row their new numbers; those without one join the others.
void renumber(HeapRow& row, const std::vector<uint32_t>& places, uint32_t none) {
  size_t kept = 0;
  for (const HeapCell& cell : row.cells) {
    const uint32_t place = places[cell.site];
    if (place == none) {
      row.others_bytes += cell.live_bytes;
      continue;
    }
    row.cells[kept] = cell;
    row.cells[kept++].site = place;
  }
  row.cells.resize(kept);
  const auto by_site = [](const HeapCell& a, const HeapCell& b) { return a.site < b.site; };
  if (!std::is_sorted(row.cells.begin(), row.cells.end(), by_site)) {
    std::sort(row.cells.begin(), row.cells.end(), by_site);
  }
}

}  // namespace

void GrowthProfile::fold() {
  const std::vector<uint32_t> moved = sites_.fold();
  live_.each([&](LiveBlock& block) { block.site = moved[block.site]; });
  mappings_.each([&](MappedPiece& piece, uint64_t) { piece.site = moved[piece.site]; });
  for (HeapRow& row : rows_) renumber(row, moved, SiteTable::kOthers);
  if (newest_) renumber(*newest_, moved, SiteTable::kOthers);
  std::unordered_set<uint64_t> needed;
  for (const WorkingSite& site : sites_.all()) needed.insert(site.stack);
  store_.keep_only(needed);
}

void GrowthProfile::fill(HeapRow& row) {
  row.others_bytes = sites_[SiteTable::kOthers].live_bytes;
  double total = row.others_bytes;
  for (uint32_t number = 1; number < sites_.size(); ++number) {
    WorkingSite& site = sites_[number];
    if (site.live_bytes <= 0 && site.live_blocks <= 0) continue;
    site.peak_bytes = std::max(site.peak_bytes, site.live_bytes);
    total += site.live_bytes;
    row.cells.push_back({number, site.live_bytes, site.live_blocks});
  }
  peak_bytes_ = std::max(peak_bytes_, total);
  if (row.cells.size() > kMaxRowCells) {
    const auto last = row.cells.begin() + kMaxRowCells;
    std::nth_element(
        row.cells.begin(), last, row.cells.end(),
        [](const HeapCell& a, const HeapCell& b) { return a.live_bytes > b.live_bytes; });
    for (auto it = last; it != row.cells.end(); ++it) row.others_bytes += it->live_bytes;
    row.cells.erase(last, row.cells.end());
    std::sort(row.cells.begin(), row.cells.end(),
              [](const HeapCell& a, const HeapCell& b) { return a.site < b.site; });
  }
  row.cells.shrink_to_fit();
}

// Drops every second row; those that stay are where a stride twice as long would have put them.
void GrowthProfile::row(HeapRow row) {
  fill(row);
  if (rows_seen_++ % stride_ != 0) {
    newest_ = std::move(row);
    return;
  }
  newest_.reset();
  rows_.push_back(std::move(row));
  if (rows_.size() < HeapTrack::kMaxHeapRows) return;
  static_assert(HeapTrack::kMaxHeapRows % 2 == 0);
  newest_ = rows_.back();  // At an odd place: between those that stay.
  keep_every_second(rows_);
  stride_ *= 2;
}

// The sites of the track, the most important first: what they hold now, or a quarter of what they
// have held.
std::vector<uint32_t> GrowthProfile::shown_sites() const {
  std::vector<uint32_t> shown;
  for (uint32_t site = 1; site < sites_.size(); ++site) {
    // A stack that was lost or forgotten has no frames to show.
    const bool named = sites_[site].stack == 0 || store_.knows(sites_[site].stack);
    if (named && sites_[site].allocated_blocks > 0) shown.push_back(site);
  }
  const auto weight = [&](uint32_t site) {
    return std::max(sites_[site].live_bytes, sites_[site].peak_bytes / 4);
  };
  std::sort(shown.begin(), shown.end(), [&](uint32_t a, uint32_t b) {
    const double of_a = weight(a);
    const double of_b = weight(b);
    if (of_a != of_b) return of_a > of_b;
    if (sites_[a].allocated_bytes != sites_[b].allocated_bytes) {
      return sites_[a].allocated_bytes > sites_[b].allocated_bytes;
    }
    return a < b;
  });
  return shown;
}

void GrowthProfile::live_ages(HeapTrack& track, const std::vector<uint32_t>& places,
                              uint64_t now_stamp) {
  const auto count = [&](uint32_t site, double blocks, int64_t old) {
    const uint32_t place = places[site];
    if (place != kNotShown) track.sites[place].live_age[age_bucket(old)] += blocks;
  };
  live_.each([&](const LiveBlock& block) {
    count(block.site, weight_of(block.bytes(), block.note()).blocks,
          age(block.stamp, block.step, now_stamp));
  });
  mappings_.each([&](const MappedPiece& piece, uint64_t bytes) {
    const double share = static_cast<double>(bytes) / static_cast<double>(piece.whole_bytes);
    count(piece.site, weight_of(piece.whole_bytes, piece.note).blocks * share,
          age(piece.stamp, piece.step, now_stamp));
  });
}

HeapTrack GrowthProfile::track(uint64_t now_stamp) {
  notice_steps();
  HeapTrack track;
  track.row_stride = stride_;
  track.heap_totals = heap_totals_;
  track.folded_sites = sites_.folded();
  track.folded_max_bytes = sites_.folded_max_bytes();
  std::vector<uint32_t> places(sites_.size(), kNotShown);
  std::unordered_map<uint64_t, uint32_t> stack_places;
  std::vector<uint64_t> stacks;
  for (const uint32_t number : shown_sites()) {
    const WorkingSite& from = sites_[number];
    if (track.sites.size() == HeapTrack::kMaxSites) {
      ++track.folded_sites;
      track.folded_max_bytes = std::max(track.folded_max_bytes, from.live_bytes);
      continue;
    }
    places[number] = static_cast<uint32_t>(track.sites.size());
    HeapSite& site = track.sites.emplace_back();
    const auto [it, fresh] =
        stack_places.try_emplace(from.stack, static_cast<uint32_t>(stacks.size()));
    if (fresh) stacks.push_back(from.stack);
    site.stack = it->second;
    site.kind = from.kind;
    site.allocated_bytes = from.allocated_bytes;
    site.allocated_blocks = from.allocated_blocks;
    site.freed_bytes = std::max(0.0, from.allocated_bytes - from.live_bytes);
    site.freed_blocks = std::max(0.0, from.allocated_blocks - from.live_blocks);
    site.live_variance = from.live_variance;
    site.peak_bytes = std::max(from.peak_bytes, from.live_bytes);
    site.first_step = from.first_step;
    site.freed_age = from.freed_age;
  }
  store_.fill(track, stacks);
  track.rows = rows_;
  if (newest_) track.rows.push_back(*newest_);
  for (HeapRow& row : track.rows) renumber(row, places, kNotShown);
  live_ages(track, places, now_stamp);
  return track;
}

}  // namespace plateau
