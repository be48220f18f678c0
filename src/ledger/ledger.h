// SPDX-License-Identifier: Apache-2.0
// Resident memory of a process as a sum that adds up:
//
//   RSS = live heap + held by the allocator + Python arenas free + mapped files + shared memory
//         + thread stacks + rest
//
// Each line says where its figure is from; the rest is what no line claims, and is shown. A line
// that cannot be known (no tracer, an allocator that does not say) is absent and falls into the
// rest, with a note.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recording/heap_track.h"
#include "recording/run.h"

namespace plateau {

// Resident bytes of a process by kind of mapping, from /proc/PID/smaps.
struct ResidentByMapping {
  uint64_t rss = 0;
  uint64_t heap = 0;       // [heap]
  uint64_t anonymous = 0;  // Other private anonymous mappings.
  uint64_t stacks = 0;     // Of all threads.
  uint64_t file = 0;       // Mapped files, clean or private.
  uint64_t file_written =
      0;                // Private pages of file mappings that were written (data, relocations).
  uint64_t shared = 0;  // Shared memory, tmpfs, memfd.
  uint64_t other = 0;   // vdso and the like.
};
// Parses smaps text; bad lines are an error naming the line. `thread_stacks` are addresses that lie
// in some thread's stack (a stack pointer each).
Result<ResidentByMapping> parse_smaps(std::string_view text,
                                      const std::vector<uint64_t>& thread_stacks);
// Reads it of a live process. Costs 18-26 ms per GB and holds the target's mmap lock meanwhile.
Result<ResidentByMapping> read_resident(pid_t pid);

struct LedgerLine {
  std::string name;  // Stable: "live-heap", "allocator-held", "arenas-free", "files", "shared", ...
  double mb = 0;
  std::string source;  // "tracer, 412 samples", "glibc mallinfo2", "smaps"
};

struct Ledger {
  double rss_mb = 0;
  std::vector<LedgerLine> lines;  // In the order above; they sum to rss_mb with `rest_mb`.
  double rest_mb = 0;             // May be negative: an estimate was too high.
  std::vector<std::string> notes;
};

// `track` may be null: no tracer in that process.
Ledger make_ledger(const ResidentByMapping& resident, const HeapTrack* track);

// The same over a run: how much of the growth of RSS between two rows each line explains.
struct LedgerGrowth {
  double from_step = 0;
  double to_step = 0;
  Ledger change;  // Differences.
};

}  // namespace plateau
