// SPDX-License-Identifier: Apache-2.0
#include "verdict/heap_sum.h"

#include <algorithm>

namespace plateau {
namespace {

constexpr int kAddressBits = 48;
// A process without a row for so many of its own distances between rows has ended.
constexpr double kGoneAfterRows = 3;

double span_of(const HeapTrack& track) {
  return track.rows.empty() ? -1 : track.rows.back().time_s - track.rows.front().time_s;
}

// Appends what a track refers to; its indices are shifted by what was there before.
struct Shift {
  uint64_t address = 0;
  uint32_t code = 0;
  uint32_t stack = 0;
  uint32_t site = 0;
};

Shift append_tables(const HeapTrack& from, uint64_t number, HeapTrack& to) {
  const Shift shift = {.address = number << kAddressBits,
                       .code = static_cast<uint32_t>(to.codes.size()),
                       .stack = static_cast<uint32_t>(to.stacks.size()),
                       .site = static_cast<uint32_t>(to.sites.size())};
  for (HeapModule module : from.modules) {
    module.begin += shift.address;
    module.end += shift.address;
    module.bias += shift.address;
    to.modules.push_back(std::move(module));
  }
  to.codes.insert(to.codes.end(), from.codes.begin(), from.codes.end());
  for (HeapStack stack : from.stacks) {
    for (uint64_t& address : stack.native) address += shift.address;
    for (PythonFrame& frame : stack.python) frame.code += shift.code;
    to.stacks.push_back(std::move(stack));
  }
  for (HeapSite site : from.sites) {
    site.stack += shift.stack;
    to.sites.push_back(site);
  }
  return shift;
}

// The row that tells what was alive at `time_s`; null before the process and after it.
const HeapRow* row_at(const HeapTrack& track, double time_s) {
  const auto after =
      std::upper_bound(track.rows.begin(), track.rows.end(), time_s,
                       [](double time, const HeapRow& row) { return time < row.time_s; });
  if (after == track.rows.begin()) return nullptr;
  const HeapRow& row = *std::prev(after);
  if (after != track.rows.end()) return &row;
  const double distance =
      track.rows.size() < 2 ? 0 : span_of(track) / static_cast<double>(track.rows.size() - 1);
  return time_s - row.time_s <= kGoneAfterRows * distance ? &row : nullptr;
}

void add_account(const HeapTrack& from, HeapTrack& to) {
  to.exact = to.exact && from.exact;
  to.interval_bytes = std::max(to.interval_bytes, from.interval_bytes);
  if (to.allocator.empty()) to.allocator = from.allocator;
  to.python_minor = std::max(to.python_minor, from.python_minor);
  to.python_hooked = to.python_hooked || from.python_hooked;
  to.folded_sites += from.folded_sites;
  to.folded_max_bytes = std::max(to.folded_max_bytes, from.folded_max_bytes);
  to.dropped_allocs += from.dropped_allocs;
  to.dropped_frees += from.dropped_frees;
  to.heap_totals.allocated_bytes += from.heap_totals.allocated_bytes;
  to.heap_totals.allocated_blocks += from.heap_totals.allocated_blocks;
  to.heap_totals.freed_bytes += from.heap_totals.freed_bytes;
  to.heap_totals.freed_blocks += from.heap_totals.freed_blocks;
  to.cpu_s += from.cpu_s;
}

}  // namespace

HeapTrack sum_heaps(const std::vector<HeapTrack>& tracks) {
  HeapTrack sum;
  sum.exact = true;
  const auto longest = std::max_element(
      tracks.begin(), tracks.end(),
      [](const HeapTrack& a, const HeapTrack& b) { return span_of(a) < span_of(b); });
  if (longest == tracks.end()) return sum;
  sum.row_stride = longest->row_stride;
  for (const HeapRow& row : longest->rows) {
    sum.rows.push_back({.time_s = row.time_s, .step = row.step});
  }
  uint64_t number = 0;
  for (const HeapTrack& track : tracks) {
    const Shift shift = append_tables(track, number++, sum);
    add_account(track, sum);
    for (HeapRow& row : sum.rows) {
      const HeapRow* from = row_at(track, row.time_s);
      if (from == nullptr) continue;
      row.others_bytes += from->others_bytes;
      for (HeapCell cell : from->cells) {
        cell.site += shift.site;
        row.cells.push_back(cell);
      }
    }
  }
  return sum;
}

}  // namespace plateau
