// SPDX-License-Identifier: Apache-2.0
// Figures beside the memory of a log that could be the memory instead (recording/other_figures.h).
//
// A reader of logs that nobody described chooses which figure is the memory, and may choose wrong.
// Where the chosen one is called harmless and another one of the same lines leaks, or likely does,
// the all-clear would rest on that choice alone. So each is judged too, and the answer is then that
// it is open: it names the figure that grows, and how to have that one judged.
//
// Worked case: Elasticsearch's _cat/nodes has ram.current level at 15 GB, the machine's, and
// heap.current from 1.2 to 3.9 GB: not "plateau", but "open: heap.current grows".
// Blind spot: a figure that only counts what was ever taken, under a name that says memory in use.
#pragma once

#include "recording/run.h"
#include "verdict/hindsight.h"

namespace plateau {

// Takes the all-clear back where another figure leaks; leaves every other answer alone.
void judge_other_figures(const Run& run, const Policy& policy, Judged& judged);

}  // namespace plateau
