// SPDX-License-Identifier: Apache-2.0
// Who claims the resident pages of a process.
//
// Files, shared memory and stacks are told apart by the kernel. What is left, the private anonymous
// pages, is divided among those who speak for them, in this order: the program (live blocks and
// mappings), the allocator's own rounding and headers, Python's arenas, and what the allocator
// holds free. All of them count addresses, not pages: a block that was asked for and never touched,
// or freed memory that went back to the kernel, is not resident. So each claim is cut to what is
// left when its turn comes, what was cut is told in a note, and the sum is RSS to the byte.
//
// Worked number: 500 MB anonymous; the tracer sees 300 MB alive, glibc says 320 MB in use and
// 250 MB free. Live heap 300, overhead 20, held 180 of 250 (70 MB of it cannot be resident), rest
// 0.
//
// Blind spot: memory that nobody speaks for (a library's own mappings below the tracer's 64 KiB,
// the tracer itself) is taken for free allocator memory as long as that claim was cut.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "ledger/allocator_view.h"

namespace plateau {
namespace {

constexpr uint64_t kLeastNoteBytes = 1'000'000;  // What is cut below this is not worth a note.

double mb(uint64_t bytes) {
  return static_cast<double>(bytes) / kBytesPerMb;
}

uint64_t whole_bytes(double bytes) {
  constexpr double kMost = 0x1p60;
  return bytes > 0 ? static_cast<uint64_t>(std::llround(std::min(bytes, kMost))) : 0;
}

class LedgerMaker {
 public:
  explicit LedgerMaker(const ResidentByMapping& resident)
      : unclaimed_(resident.heap + resident.anonymous), rest_(resident.rss) {
    ledger_.rss_mb = mb(resident.rss);
  }

  // Of the anonymous pages; returns what of `bytes` was left to be had.
  uint64_t claim(std::string_view name, uint64_t bytes, const std::string& source) {
    const uint64_t granted = std::min({bytes, unclaimed_, rest_});
    unclaimed_ -= granted;
    add(name, granted, source);
    return granted;
  }
  // Of the rest; told by the kernel, so nothing can be wrong with it but a torn reading.
  void add(std::string_view name, uint64_t bytes, const std::string& source) {
    bytes = std::min(bytes, rest_);
    rest_ -= bytes;
    ledger_.lines.push_back({std::string(name), mb(bytes), source});
  }
  void note(std::string text) { ledger_.notes.push_back(std::move(text)); }

  Ledger finish() {
    ledger_.rest_mb = mb(rest_);
    return std::move(ledger_);
  }

 private:
  Ledger ledger_;
  uint64_t unclaimed_;  // Anonymous pages.
  uint64_t rest_;
};

// What a track says at its last row, bytes.
struct TrackClaims {
  uint64_t live = 0;       // Blocks and mappings of the program, folded ones included.
  uint64_t arenas = 0;     // Mapped for Python's small objects.
  uint64_t python = 0;     // Small objects alive.
  double error_bytes = 0;  // Standard error of `live`.
};

TrackClaims claims_of(const HeapTrack& track) {
  TrackClaims claims;
  if (track.rows.empty()) return claims;
  const HeapRow& row = track.rows.back();
  double live = row.others_bytes;
  double variance = 0;
  for (const HeapCell& cell : row.cells) {
    const HeapSite& site = track.sites[cell.site];
    // Shared memory and stacks are told apart by the kernel, and have lines of their own.
    if (site.kind == HeapKind::arena || site.kind == HeapKind::shared ||
        site.kind == HeapKind::stack) {
      continue;
    }
    live += cell.live_bytes;
    variance += site.live_variance;
  }
  claims.live = whole_bytes(live);
  claims.arenas = whole_bytes(live_bytes_at(track, row, HeapKind::arena));
  claims.python = whole_bytes(live_bytes_at(track, row, HeapKind::python));
  claims.error_bytes = std::sqrt(std::max(variance, 0.0));
  return claims;
}

void claim_live(LedgerMaker& maker, uint64_t bytes, const std::string& source) {
  const uint64_t granted = maker.claim("live-heap", bytes, source);
  if (bytes - granted < kLeastNoteBytes) return;
  maker.note(fmt::format("{} more are alive than are resident: never touched, or swapped out",
                         format_mb(mb(bytes - granted))));
}

void claim_arenas(LedgerMaker& maker, const HeapTrack& track, const TrackClaims& claims) {
  if (claims.arenas == 0) return;
  if (track.python_hooked) {
    maker.claim("arenas-free", claims.arenas - std::min(claims.arenas, claims.python),
                "tracer, arenas less the objects in them, at most");
    return;
  }
  maker.claim("arenas", claims.arenas, "tracer, Python's arenas, in use and free");
  maker.note("what of Python's arenas is free is not known: its small objects are not traced");
}

std::string name_of(const LedgerAllocator& allocator) {
  return allocator.name.empty() ? "the allocator" : allocator.name;
}

void claim_held(LedgerMaker& maker, const LedgerAllocator& allocator,
                const std::optional<double>& held, std::string_view what) {
  if (!held) {
    maker.note(
        fmt::format("what {} holds free is not known and is in the rest", name_of(allocator)));
    return;
  }
  const uint64_t bytes = whole_bytes(*held);
  const uint64_t granted = maker.claim("allocator-held", bytes,
                                       fmt::format("{}, {}, at most", name_of(allocator), what));
  if (bytes - granted < kLeastNoteBytes) return;
  maker.note(fmt::format("of the {} that {} holds free, {} cannot be resident",
                         format_mb(mb(bytes)), name_of(allocator), format_mb(mb(bytes - granted))));
}

void claim_traced(LedgerMaker& maker, const HeapTrack& track, const LedgerAllocator& allocator) {
  const TrackClaims claims = claims_of(track);
  const TracedBlocks traced = traced_blocks(track, track.rows.back());
  claim_live(maker, claims.live, tracer_source(track, claims.error_bytes));
  const bool fits = fit_together(allocator, traced);
  // Sampled, the difference would be the error of the estimate and little else.
  if (fits && track.exact && allocator.in_use) {
    const double overhead = static_cast<double>(*allocator.in_use) - traced.bytes;
    maker.claim("allocator-overhead", whole_bytes(overhead),
                fmt::format("{}, in use, less the tracer's blocks", name_of(allocator)));
  }
  claim_arenas(maker, track, claims);
  if (fits || !allocator.system) {
    claim_held(maker, allocator, free_in(allocator), "free");
  } else {
    claim_held(maker, allocator, held_beside(allocator, traced),
               "from the kernel, less the tracer's blocks");
  }
}

}  // namespace

Ledger make_ledger(const ResidentByMapping& resident, const HeapTrack* track,
                   const LedgerAllocator* allocator) {
  LedgerMaker maker(resident);
  const bool is_traced = track != nullptr && !track->rows.empty();
  if (is_traced) {
    claim_traced(maker, *track,
                 allocator != nullptr ? *allocator : allocator_in(*track, track->rows.back()));
  } else if (allocator != nullptr && allocator->in_use) {
    claim_live(maker, *allocator->in_use, fmt::format("{}, in use", name_of(*allocator)));
    claim_held(maker, *allocator, free_in(*allocator), "free");
  } else {
    maker.note("the process is not traced: its heap, in use or free, is in the rest");
  }
  maker.add("files", resident.file, "smaps");
  maker.add("files-written", resident.file_written, "smaps, private pages of mapped files");
  maker.add("shared", resident.shared, "smaps");
  maker.add("thread-stacks", resident.stacks, "smaps, mappings with a stack pointer or guard page");
  return maker.finish();
}

}  // namespace plateau
