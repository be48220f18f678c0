// SPDX-License-Identifier: Apache-2.0
// Which of a run's heaps is meant.
#pragma once

#include <string>

#include "base/result.h"
#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

inline constexpr const char* kAllProcesses = "all";

// Bytes that the heap grew by over the rows that count.
double heap_growth_bytes(const HeapTrack& track);

// Adds the sum over all processes to the run's heaps, as the last, with pid 0, if there are
// several.
void add_sum_of_heaps(Run& run);

// The heap of the process `wanted` (pid or name; of several of that name the one that grew most);
// "all": the sum. Empty: the process that grew most, or the sum if that grew by more than twice as
// much: then it is the number of processes that grows. Requires: the run has heaps. The track is
// the run's.
Result<const HeapTrack*> choose_heap(const Run& run, const std::string& wanted);

// The heap that answers for a verdict: of the process that it names, else the one that grew most;
// nullptr if there is none. `run` has the sum among its heaps.
const HeapTrack* answering_heap(const Run& run, const Verdict& verdict);

}  // namespace plateau
