// SPDX-License-Identifier: Apache-2.0
// Resident memory of a process as a sum that adds up:
//
//   RSS = live heap + held by the allocator + Python arenas free + mapped files + shared memory
//         + thread stacks + rest
//
// Each line says where its figure is from; the rest is what no line claims, and is shown. A line
// that cannot be known (no tracer, an allocator that does not say) is absent and falls into the
// rest, with a note. docs/ledger.md explains every line.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recording/heap_track.h"
#include "recording/run.h"

namespace plateau {

// Resident bytes of a process by kind of mapping, from /proc/PID/smaps. The fields after `rss` add
// up to it.
struct ResidentByMapping {
  uint64_t rss = 0;
  uint64_t heap = 0;       // [heap]
  uint64_t anonymous = 0;  // Other private anonymous mappings.
  uint64_t stacks = 0;     // Of all threads.
  uint64_t file = 0;       // Pages of mapped files that are still the file's.
  uint64_t file_written =
      0;                // Private pages of file mappings that were written (data, relocations).
  uint64_t shared = 0;  // Shared memory, tmpfs, memfd.
  uint64_t other = 0;   // vdso and the like.
};

// A thread's stack is taken to be no larger than this. A mapping that holds a stack pointer and is
// larger was joined by the kernel with its neighbour above; of it only the part between the pointer
// and the end of such a stack is counted.
inline constexpr uint64_t kMaxThreadStackBytes = uint64_t{8} << 20;

// Parses smaps text; bad lines are an error naming the line. `thread_stacks` are addresses that lie
// in some thread's stack (a stack pointer each).
Result<ResidentByMapping> parse_smaps(std::string_view text,
                                      const std::vector<uint64_t>& thread_stacks);
// Reads it of a live process. Costs 18-26 ms per GB and holds the target's mmap lock meanwhile.
Result<ResidentByMapping> read_resident(pid_t pid);

// Addresses in thread stacks, from the mappings alone: glibc puts a stack of its usual size
// directly above a guard page that nobody may touch. Takes maps or smaps text; any bytes.
std::vector<uint64_t> stacks_above_guards(std::string_view maps);
// The stack pointer from /proc/PID/task/TID/syscall; nullopt while the thread runs.
std::optional<uint64_t> stack_pointer_in(std::string_view syscall);

// What the allocator says of itself; bytes, a figure that it does not give is missing.
struct LedgerAllocator {
  std::string name;                // "glibc"
  std::optional<uint64_t> in_use;  // Handed out, with the allocator's own rounding.
  std::optional<uint64_t> free;    // Held but not handed out: mapped, and may be resident.
  std::optional<uint64_t> system;  // Held from the kernel in all.
};

struct LedgerLine {
  // Stable: "live-heap", "allocator-overhead", "allocator-held", "arenas", "arenas-free", "files",
  // "files-written", "shared", "thread-stacks".
  std::string name;
  double mb = 0;
  std::string source;  // "tracer, every allocation", "glibc, free, at most", "smaps"
};

struct Ledger {
  double rss_mb = 0;
  std::vector<LedgerLine> lines;  // In the order above; they sum to rss_mb with `rest_mb`.
  double rest_mb = 0;             // Of a ledger never below 0; of a change of either sign.
  std::vector<std::string> notes;
};

// `track` may be null: no tracer in that process. `allocator` may be null: nobody asked it; if
// given it counts instead of the figures in the track's last row.
Ledger make_ledger(const ResidentByMapping& resident, const HeapTrack* track,
                   const LedgerAllocator* allocator = nullptr);

// The same over a run: how much of the growth of RSS between two rows each line explains.
struct LedgerGrowth {
  double from_step = 0;  // -1: before the first step.
  double to_step = 0;
  double from_s = 0;  // Since the start of the recording.
  double to_s = 0;
  Ledger change;  // Differences.
};

// Between rows `from` and `to` of the track, with the process's own RSS as `run` has it at these
// times. Fails if a row does not exist, they are not in order, or the run has no RSS of that
// process then.
Result<LedgerGrowth> ledger_growth(const Run& run, const HeapTrack& track, size_t from, size_t to);

}  // namespace plateau
