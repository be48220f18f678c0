// SPDX-License-Identifier: Apache-2.0
// Does a verdict survive a bounded recording? Every trace is recorded with a small table, so that
// its rows are merged many times over, and judged again.
#pragma once

#include <cstddef>
#include <vector>

#include "trace.h"
#include "verdict/verdict.h"

namespace plateau::bench {

// `run` as Plateau's own recording of at most `max_rows` rows would give it back, in memory.
Run recorded(const Run& run, size_t max_rows);

// Prints how often the word stays, at every tenth of every trace, and where it does not. True if
// it stays as often as kSizes in merging.cc demands.
bool report_merging(const std::vector<Trace>& traces);

}  // namespace plateau::bench
