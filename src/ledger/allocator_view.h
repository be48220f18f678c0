// SPDX-License-Identifier: Apache-2.0
// What an allocator's account and the tracer's blocks say together. Internal to the room.
//
// The allocator answers when the program next allocates, so its account may be older than the row
// it stands in: a program that has just freed 80 MB and then waits still has them "in use". The two
// fit if what is in use exceeds the traced blocks by no more than headers and rounding could
// explain (a quarter of the bytes, 32 bytes a block, 1 MB that is older than the tracer, and three
// standard errors of a sample), and falls below them by no more than that error. If they fit, the
// allocator's free memory is taken as it is, and the difference is overhead. If not, the account is
// of another moment, and only what it holds from the kernel is used, which changes least: what of
// that is not in traced blocks is held, overhead included.
#pragma once

#include <optional>

#include "ledger/ledger.h"

namespace plateau {

struct TracedBlocks {
  double bytes = 0;  // Alive through the allocator, folded sites included.
  double blocks = 0;
  double error_bytes = 0;  // Standard error; 0 if every allocation is traced.
};
TracedBlocks traced_blocks(const HeapTrack& track, const HeapRow& row);

// The allocator's account in a row.
LedgerAllocator allocator_in(const HeapTrack& track, const HeapRow& row);

// Free bytes as the allocator counts them; nullopt if it does not say.
std::optional<double> free_in(const LedgerAllocator& allocator);
// Held from the kernel less the traced blocks, not below 0; nullopt if it does not say.
std::optional<double> held_beside(const LedgerAllocator& allocator, const TracedBlocks& traced);

// True also if the allocator does not say what is in use.
bool fit_together(const LedgerAllocator& allocator, const TracedBlocks& traced);

// Where live bytes are known from, and how well.
std::string tracer_source(const HeapTrack& track, double error_bytes);

}  // namespace plateau
