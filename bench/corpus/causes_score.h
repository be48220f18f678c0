// SPDX-License-Identifier: Apache-2.0
// Is the true cause among those that the verdict ranks first or second?
#pragma once

#include <vector>

#include "trace.h"

namespace plateau::bench {

// Prints, for the traces whose label names a cause that a log can show, how often it ranks first
// and first or second at the end, with the misses.
void print_causes(const std::vector<Trace>& traces);

}  // namespace plateau::bench
