// SPDX-License-Identifier: Apache-2.0
#include "heap/growth_profile.h"

#include <algorithm>

namespace plateau {
namespace {

bool is_range(HeapKind kind) {
  return kind == HeapKind::mapping || kind == HeapKind::arena || kind == HeapKind::shared;
}

}  // namespace

void GrowthProfile::begin_round(bool ordered) {
  live_.begin_round(ordered);
  notice_steps();
}

void GrowthProfile::notice_steps() {
  if (steps_seen_ || !marks_->any()) return;
  // Ages so far were in seconds. What was freed before the first step lived within it.
  steps_seen_ = true;
  for (uint32_t site = 0; site < sites_.size(); ++site) {
    AgeCounts& ages = sites_[site].freed_age;
    for (size_t bucket = 1; bucket < ages.size(); ++bucket) {
      ages[0] += ages[bucket];
      ages[bucket] = 0;
    }
  }
}

void GrowthProfile::end_round() {
  live_.end_round();
  mappings_.end_round();
  store_.end_round();
  if (store_.full()) fold();
}

uint32_t GrowthProfile::site_of(uint64_t stack, HeapKind kind, int32_t step) {
  const uint32_t known = sites_.find(stack, kind);
  return known != SiteTable::kNone ? known : new_site(stack, kind, step);
}

// The stack itself may not be known yet: it was announced on another lane.
uint32_t GrowthProfile::new_site(uint64_t stack, HeapKind kind, int32_t step) {
  if (sites_.full()) fold();
  return sites_.add(stack, kind, step);
}

int64_t GrowthProfile::age(uint64_t born, int32_t born_step, uint64_t died) const {
  if (steps_seen_) {
    const int64_t from = born_step < 0 ? int64_t{marks_->first()} - 1 : born_step;
    return std::max<int64_t>(0, marks_->step_at(died) - std::max<int64_t>(from, -1));
  }
  return died <= born ? 0 : static_cast<int64_t>(static_cast<double>(died - born) / ticks_per_s_);
}

void GrowthProfile::count_alloc(uint32_t site, uint64_t bytes, unsigned note) {
  const BlockWeight weight = weight_of(bytes, note);
  const double stands_for = static_cast<double>(bytes) * weight.blocks;
  WorkingSite& sums = sites_[site];
  sums.live_bytes += stands_for;
  sums.live_blocks += weight.blocks;
  sums.live_variance += weight.variance;
  sums.allocated_bytes += stands_for;
  sums.allocated_blocks += weight.blocks;
}

void GrowthProfile::count_free(uint32_t site, uint64_t whole, double share, unsigned note,
                               int64_t age) {
  const BlockWeight weight = weight_of(whole, note);
  WorkingSite& sums = sites_[site];
  // Sums of weights do not return to exactly nothing; what is below a thousandth of a byte is that.
  const auto less = [](double sum, double part) { return sum - part < 1e-3 ? 0 : sum - part; };
  sums.live_bytes = less(sums.live_bytes, static_cast<double>(whole) * weight.blocks * share);
  sums.live_blocks = less(sums.live_blocks, weight.blocks * share);
  sums.live_variance = less(sums.live_variance, weight.variance * share);
  sums.freed_age[age_bucket(age)] += weight.blocks * share;
}

void GrowthProfile::alloc(const trace::AllocRecord& record) {
  ++events_;
  if (record.address == 0) return;
  const auto kind = static_cast<HeapKind>(record.head.kind);
  const int32_t step = marks_->step_at(record.stamp);
  const uint32_t site = site_of(record.stack, kind, step);
  if (is_range(kind)) {
    map(record, site, step);
    return;
  }
  const LiveBlock block{
      .address = record.address,
      .stamp = record.stamp,
      .bytes_and_note = LiveBlock::pack(record.bytes, record.head.note, record.head.kind),
      .site = site,
      .step = step};
  LiveBlock before;
  const LiveBlocks::Put put = live_.put(block, before);
  if (put == LiveBlocks::Put::refused) {
    ++refused_;
    return;
  }
  if (put == LiveBlocks::Put::replaced) end_block(before, record.stamp);
  count_alloc(site, record.bytes, record.head.note);
  if (kind == HeapKind::heap) {
    const double blocks = weight_of(record.bytes, record.head.note).blocks;
    heap_totals_.allocated_bytes += static_cast<double>(record.bytes) * blocks;
    heap_totals_.allocated_blocks += blocks;
  }
  if (put == LiveBlocks::Put::late) end_block(block, block.stamp);
}

void GrowthProfile::end_block(const LiveBlock& block, uint64_t died) {
  count_free(block.site, block.bytes(), 1, block.note(), age(block.stamp, block.step, died));
  // Not the kind of the site: it may be folded by now.
  if (static_cast<HeapKind>(block.kind()) != HeapKind::heap) return;
  const double blocks = weight_of(block.bytes(), block.note()).blocks;
  heap_totals_.freed_bytes += static_cast<double>(block.bytes()) * blocks;
  heap_totals_.freed_blocks += blocks;
}

MappingTable::Gone GrowthProfile::gone_at(uint64_t stamp) {
  return [this, stamp](const MappedPiece& cut, uint64_t bytes) {
    count_free(cut.site, cut.whole_bytes,
               static_cast<double>(bytes) / static_cast<double>(cut.whole_bytes), cut.note,
               age(cut.stamp, cut.step, stamp));
  };
}

void GrowthProfile::map(const trace::AllocRecord& record, uint32_t site, int32_t step) {
  if (record.bytes == 0 || record.address > UINT64_MAX - record.bytes) return;
  const MappedPiece piece{.end = record.address + record.bytes,
                          .stamp = record.stamp,
                          .whole_bytes = record.bytes,
                          .site = site,
                          .step = step,
                          .note = record.head.note};
  count_alloc(site, record.bytes, record.head.note);
  if (mappings_.add(record.address, piece, gone_at(record.stamp))) return;
  count_free(site, record.bytes, 1, record.head.note, 0);
  ++refused_;
}

void GrowthProfile::free(const trace::FreeRecord& record) {
  ++events_;
  LiveBlock freed;
  if (!live_.take(record.address, record.stamp, freed)) return;
  end_block(freed, record.stamp);
}

void GrowthProfile::unmap(const trace::UnmapRecord& record) {
  ++events_;
  if (record.address > UINT64_MAX - record.bytes) return;
  mappings_.remove(record.address, record.address + record.bytes, record.stamp,
                   gone_at(record.stamp));
}

double GrowthProfile::live_bytes() const {
  double sum = 0;
  for (const WorkingSite& site : sites_.all()) sum += site.live_bytes;
  return sum;
}

size_t GrowthProfile::memory_bytes() const {
  size_t cells = newest_ ? newest_->cells.capacity() : 0;
  for (const HeapRow& row : rows_) cells += row.cells.capacity();
  return live_.memory_bytes() + store_.memory_bytes() + sites_.size() * sizeof(WorkingSite) +
         cells * sizeof(HeapCell);
}

}  // namespace plateau
