// SPDX-License-Identifier: Apache-2.0
// A track as bytes: how 1024 sites times 256 rows fit into a few hundred kilobytes.
//
// Three things repeat. Stacks share their outer frames: a stack is written against the one before
// it, and an address is an index into a sorted list of all addresses. Sites change little from row
// to row: cells are written site by site as differences, so that a site that stands still is a run
// of zeros for the compressor. And most sites ask for one size: bytes are written against what the
// blocks would hold at the size seen before, mostly 0.
//
// Worked number: a site that holds 100, 110, 120 blocks of 64 bytes is 200 20 20 (zigzag blocks)
// and 12800 0 0 (zigzag bytes against the guess).
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/compression.h"
#include "recording/heap_track_codec.h"
#include "recording/wire.h"

namespace plateau {
namespace {

void put_signed(std::string& out, int64_t value) {
  put_varint(out, zigzag(value));
}

// Anything that is no amount is none.
void put_amount(std::string& out, double value) {
  put_double(out, value > 0 && std::isfinite(value) ? value : 0);
}

void put_count(std::string& out, int64_t units) {
  put_varint(out, static_cast<uint64_t>(units));
}

// Of a process or a site.
template <typename Totals>
void put_totals(std::string& out, const Totals& totals, const HeapUnits& units) {
  put_count(out, units.of_bytes(totals.allocated_bytes));
  put_count(out, units.of_blocks(totals.allocated_blocks));
  put_count(out, units.of_bytes(totals.freed_bytes));
  put_count(out, units.of_blocks(totals.freed_blocks));
}

void put_head(std::string& out, const HeapTrack& track, const HeapUnits& units) {
  put_signed(out, track.pid);
  out.push_back(static_cast<char>((track.exact ? 1 : 0) | (track.python_hooked ? 2 : 0)));
  put_amount(out, track.interval_bytes);
  put_text(out, track.allocator);
  put_varint(out, static_cast<uint64_t>(std::max(track.python_minor, 0)));
  put_varint(out, track.row_stride);
  put_varint(out, track.folded_sites);
  put_amount(out, track.folded_max_bytes);
  put_varint(out, track.dropped_allocs);
  put_varint(out, track.dropped_frees);
  put_amount(out, track.cpu_s);
  put_varint(out, units.byte_shift);
  put_varint(out, units.block_shift);
  put_totals(out, track.heap_totals, units);
}

void put_modules(std::string& out, const HeapTrack& track) {
  put_varint(out, track.modules.size());
  uint64_t before = 0;
  for (const HeapModule& module : track.modules) {
    put_signed(out, static_cast<int64_t>(module.begin - before));
    put_varint(out, module.end - module.begin);
    put_signed(out, static_cast<int64_t>(module.begin - module.bias));
    put_text(out, module.path);
    put_text(out, module.build_id);
    before = module.end;
  }
}

void put_codes(std::string& out, const HeapTrack& track) {
  put_varint(out, track.codes.size());
  const std::string* file = nullptr;
  size_t tables = 0;
  for (const PythonCode& code : track.codes) {
    put_text(out, code.function);
    const bool same = file != nullptr && *file == code.file;
    out.push_back(same ? '\1' : '\0');
    if (!same) put_text(out, code.file);
    file = &code.file;
    put_signed(out, code.first_line);
    put_varint(out, code.minor);
    tables += code.line_table.size();
    put_text(out, tables <= kMaxLineTableTotalBytes ? code.line_table : std::string_view());
  }
}

// How many elements two lists share at their outer ends.
template <typename List>
size_t shared_outer(const List& a, const List& b) {
  const auto apart = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  return static_cast<size_t>(apart.first - a.rbegin());
}

void put_python(std::string& out, const std::vector<PythonFrame>& frames,
                const std::vector<PythonFrame>& before) {
  const size_t shared = shared_outer(frames, before);
  put_varint(out, frames.size());
  put_varint(out, shared);
  for (size_t i = 0; i + shared < frames.size(); ++i) {
    put_varint(out, uint64_t{frames[i].code} * 2 + (frames[i].entry ? 1 : 0));
    put_signed(out, frames[i].instruction);
  }
}

void put_stacks(std::string& out, const HeapTrack& track) {
  std::vector<uint64_t> addresses;
  for (const HeapStack& stack : track.stacks) {
    addresses.insert(addresses.end(), stack.native.begin(), stack.native.end());
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  put_varint(out, addresses.size());
  uint64_t last = 0;
  for (const uint64_t address : addresses) put_varint(out, address - std::exchange(last, address));

  put_varint(out, track.stacks.size());
  const HeapStack none;
  const HeapStack* before = &none;
  for (const HeapStack& stack : track.stacks) {
    const size_t shared = shared_outer(stack.native, before->native);
    put_varint(out, stack.native.size() * 2 + (stack.truncated ? 1 : 0));
    put_varint(out, shared);
    for (size_t i = 0; i + shared < stack.native.size(); ++i) {
      const auto at = std::lower_bound(addresses.begin(), addresses.end(), stack.native[i]);
      put_varint(out, static_cast<uint64_t>(at - addresses.begin()));
    }
    put_python(out, stack.python, before->python);
    before = &stack;
  }
}

void put_ages(std::string& out, const AgeCounts& ages, const HeapUnits& units) {
  size_t used = ages.size();
  while (used > 0 && units.of_blocks(ages[used - 1]) == 0) --used;
  put_varint(out, used);
  for (size_t i = 0; i < used; ++i) put_count(out, units.of_blocks(ages[i]));
}

void put_sites(std::string& out, const HeapTrack& track, const HeapUnits& units) {
  put_varint(out, track.sites.size());
  for (const HeapSite& site : track.sites) {
    put_varint(out, site.stack);
    out.push_back(static_cast<char>(site.kind));
    put_totals(out, site, units);
    put_amount(out, site.live_variance);
    put_count(out, units.of_bytes(site.peak_bytes));
    put_signed(out, site.first_step);
    put_ages(out, site.freed_age, units);
    put_ages(out, site.live_age, units);
  }
}

// Whole bytes plus one; 0 where the allocator does not say.
int64_t account(double bytes) {
  return bytes >= 0 ? HeapUnits::whole(std::min(bytes, 0x1p60)) + 1 : 0;
}

void put_rows(std::string& out, const HeapTrack& track) {
  put_varint(out, track.rows.size());
  int64_t time_ms = 0;
  int64_t step = -1;
  std::array<int64_t, 4> before{};
  for (const HeapRow& row : track.rows) {
    // Neither may fall, or the track could not be read; who lets them fall has them stand still.
    const int64_t at_ms = std::clamp(HeapUnits::whole(row.time_s * 1000), time_ms, kMaxTrackTimeMs);
    put_signed(out, at_ms - std::exchange(time_ms, at_ms));
    const int64_t at_step = std::clamp(row.step, step, kMaxTrackUnits);
    put_signed(out, at_step - std::exchange(step, at_step));
    const std::array<int64_t, 4> now = {HeapUnits::whole(std::min(row.others_bytes, 0x1p60)),
                                        account(row.allocator_in_use), account(row.allocator_free),
                                        account(row.allocator_system)};
    for (size_t i = 0; i < now.size(); ++i) put_signed(out, now[i] - before[i]);
    before = now;
  }
}

void put_cells(std::string& out, const HeapTrack& track, const HeapUnits& units) {
  const size_t rows = track.rows.size();
  std::vector<CellUnits> table(track.sites.size() * rows);
  for (size_t r = 0; r < rows; ++r) {
    for (const HeapCell& cell : track.rows[r].cells) {
      if (cell.site >= track.sites.size()) continue;
      table[cell.site * rows + r] = {.bytes = units.of_bytes(cell.live_bytes),
                                     .blocks = units.of_blocks(cell.live_blocks)};
    }
  }
  for (size_t s = 0; s < track.sites.size(); ++s) {
    const CellUnits* cells = table.data() + s * rows;
    for (size_t r = 0; r < rows; ++r) {
      put_signed(out, cells[r].blocks - (r > 0 ? cells[r - 1].blocks : 0));
    }
    for (size_t r = 0; r < rows; ++r) {
      const CellUnits before = r > 0 ? cells[r - 1] : CellUnits{};
      put_signed(out, cells[r].bytes - guessed_bytes(before, cells[r].blocks));
    }
  }
}

}  // namespace

std::string encode_heap_track(const HeapTrack& track) {
  const HeapUnits units = units_of(track);
  std::string plain;
  put_head(plain, track, units);
  put_modules(plain, track);
  put_codes(plain, track);
  put_stacks(plain, track);
  put_sites(plain, track, units);
  put_rows(plain, track);
  put_cells(plain, track, units);

  std::string out(1, static_cast<char>(kHeapTrackVersion));
  put_varint(out, plain.size());
  out += deflated(plain);
  return out;
}

}  // namespace plateau
