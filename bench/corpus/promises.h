// SPDX-License-Identifier: Apache-2.0
// Are promises kept? An undecided verdict names the step by which it will know, and a growing
// bounded run gets a forecast of its plateau with a 90 % interval. Both can be checked on traces
// that go on.
#pragma once

#include <vector>

#include "trace.h"

namespace plateau::bench {

// Prints how many "decides at step N" held, and how far forecasts were from the level reached.
void print_promises(const std::vector<Trace>& traces);

}  // namespace plateau::bench
