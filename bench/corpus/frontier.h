// SPDX-License-Identifier: Apache-2.0
// What would asking for more, or for less, have cost? False alarms against leaks found.
#pragma once

#include <vector>

#include "trace.h"

namespace plateau::bench {

// Markdown: a row for each probability at which a leak could be called.
void print_frontier(const std::vector<Trace>& traces);

}  // namespace plateau::bench
