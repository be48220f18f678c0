// SPDX-License-Identifier: Apache-2.0
// What is known of one process's heap over a run: who allocated what is alive, and how that grew.
//
// A track is of constant size whatever the length of the run: at most kMaxSites sites and
// kMaxHeapRows rows. When rows run out every second one is dropped (a kept row is always a real
// moment, so the sites of one row belong together); when sites run out the smallest are folded into
// `others`. Addresses stay raw: names are found later, from modules and their build ids.
//
// Estimates: in sampled mode a block that was sampled with probability p stands for 1/p blocks.
// `live_variance` is the variance of the estimate, in bytes squared; 0 in exact mode.
//
// Plain data, value semantics. Not synchronised.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plateau {

struct HeapModule {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t bias = 0;  // Address in memory minus address in the file.
  std::string path;
  std::string build_id;  // Raw bytes; empty if the file has none.
};

struct PythonCode {
  std::string function;  // Qualified where the interpreter knows it.
  std::string file;
  int32_t first_line = 0;
  uint16_t minor = 0;  // Of CPython 3.
  std::string line_table;
};

struct PythonFrame {
  uint32_t code = 0;         // Index into HeapTrack::codes.
  int32_t instruction = -1;  // Byte offset into the bytecode.
  bool entry = false;        // Began a call of the C interpreter loop.

  bool operator==(const PythonFrame&) const = default;
};

struct HeapStack {
  std::vector<uint64_t> native;     // Return addresses, innermost first.
  std::vector<PythonFrame> python;  // Innermost first.
  bool truncated = false;
};

// As trace::BlockKind; `device` is memory of a device, which no tracer sees.
enum class HeapKind : uint8_t { heap, mapping, python, arena, shared, stack, device };
std::string_view heap_kind_name(HeapKind kind);

// How long blocks lived, in steps (in seconds where there are none): bucket 0 is "freed within the
// step that made it", bucket i >= 1 is ages in [2^(i-1), 2^i).
inline constexpr size_t kAgeBuckets = 24;
using AgeCounts = std::array<double, kAgeBuckets>;

struct HeapSite {
  uint32_t stack = 0;  // Index into HeapTrack::stacks.
  HeapKind kind = HeapKind::heap;
  double allocated_bytes = 0;  // Ever.
  double allocated_blocks = 0;
  double freed_bytes = 0;
  double freed_blocks = 0;
  double live_variance = 0;  // Of live bytes, now.
  double peak_bytes = 0;     // Highest live at any row, also rows dropped since.
  int64_t first_step = -1;   // When it first allocated; -1 before the first step.
  AgeCounts freed_age{};     // Blocks that were freed, by age.
  AgeCounts live_age{};      // Blocks alive at the last row, by age so far.
};

struct HeapCell {
  uint32_t site = 0;  // Index into HeapTrack::sites.
  double live_bytes = 0;
  double live_blocks = 0;
};

struct HeapRow {
  double time_s = 0;  // Since the start of the recording.
  int64_t step = -1;
  std::vector<HeapCell> cells;  // Sites with anything alive, by site index.
  double others_bytes = 0;      // Alive in folded sites.
  // The allocator's own account at this row, in bytes; below 0 where it does not say.
  double allocator_in_use = -1;
  double allocator_free = -1;
  double allocator_system = -1;
};

// All blocks of kind heap together, of sites that were folded or have no stack too.
struct HeapTotals {
  double allocated_bytes = 0;
  double allocated_blocks = 0;
  double freed_bytes = 0;
  double freed_blocks = 0;
};

struct HeapTrack {
  // Compiled once, in heap_track.cc: copies and moves of so many members are long.
  HeapTrack();
  HeapTrack(const HeapTrack& other);
  HeapTrack(HeapTrack&& other) noexcept;
  HeapTrack& operator=(const HeapTrack& other);
  HeapTrack& operator=(HeapTrack&& other) noexcept;
  ~HeapTrack();

  static constexpr size_t kMaxSites = 1024;
  static constexpr size_t kMaxHeapRows = 256;

  int64_t pid = 0;  // Below 0: not a process's heap, but memory of a device; see device_pid().
  bool exact = false;
  double interval_bytes = 0;   // Mean distance of samples at the end; 0 when exact.
  std::string allocator;       // "glibc", "jemalloc", ...; empty if not known.
  int python_minor = 0;        // 0: no interpreter seen.
  bool python_hooked = false;  // Small Python objects are among the sites.
  std::vector<HeapModule> modules;
  std::vector<PythonCode> codes;
  std::vector<HeapStack> stacks;
  std::vector<HeapSite> sites;
  std::vector<HeapRow> rows;
  uint32_t row_stride = 1;  // Rows are this many times further apart than at the start.
  // What the bounds cost: a folded site may have held up to this much alive when it was folded.
  size_t folded_sites = 0;
  double folded_max_bytes = 0;
  uint64_t dropped_allocs = 0;  // The ring was full; a dropped free is healed when the address is
  uint64_t dropped_frees = 0;   // used again.
  HeapTotals heap_totals;       // To the end of the process. 0 in tracks of version 1.
  double cpu_s = 0;             // Of the recorder, for this process.
};

// The pid of the track of device N: -1 - N; and back.
constexpr int64_t device_pid(int64_t device) {
  return -1 - device;
}
constexpr int64_t device_of_pid(int64_t pid) {
  return -1 - pid;
}

// Variance of the estimate that `live_bytes` are alive at the site, in bytes squared; 0 where every
// block is counted. The site's own figure is of the last moment, when a job that ends has given its
// blocks back. So this is worked out from the mean size s of its blocks: sampled with p = 1 -
// exp(-s / interval), a block adds s^2 (1-p)/p, that is s (1-p)/p per byte. Mappings and arenas
// are all seen.
double sampling_variance(const HeapTrack& track, const HeapSite& site, double live_bytes);

// For the recording: compact and compressed. decode_heap_track() takes any bytes; it fails with a
// sentence on damage and never returns indices that point nowhere.
std::string encode_heap_track(const HeapTrack& track);
Result<HeapTrack> decode_heap_track(std::string_view bytes);

// Bytes alive at a row of the track: of all sites with the folded ones, or of one kind without
// them. An arena holds Python blocks; where those are sites themselves, arenas are left out of the
// sum.
double live_bytes_at(const HeapTrack& track, const HeapRow& row);
double live_bytes_at(const HeapTrack& track, const HeapRow& row, HeapKind kind);

}  // namespace plateau
