// SPDX-License-Identifier: Apache-2.0
// The allocator's own account of what it holds, for the recorder (AllocatorAccount in segment.h).
#pragma once

#include "tracer/segment.h"

namespace plateau::trace {

// Finds out which allocator serves this process and what it can be asked. At the start only: it
// takes the loader's lock, which at any other moment may be held by a thread that waits for us.
void find_account() noexcept;

// Whose malloc it is; known after find_account().
AllocatorKind allocator_in_use() noexcept;

inline bool account_wanted(const SegmentHeader& segment) noexcept {
  return segment.account.asked.load(std::memory_order_relaxed) !=
         segment.account.answered.load(std::memory_order_relaxed);
}

// Asks the allocator and answers. The thread must be outside of the allocator: some take its locks.
void answer_account(SegmentHeader& segment) noexcept;

}  // namespace plateau::trace
