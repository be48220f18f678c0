// SPDX-License-Identifier: Apache-2.0
// Does the result hang on a constant, or on having seen a kind?
//
// Nothing in the verdict is fitted to traces by a program, but its constants were chosen by people
// who looked at some. Two checks bound how much that can have helped.
//   Sensitivity: each prior weight is halved and doubled, and the number of floors and the deadline
//   are moved; how many end verdicts change?
//   Leave one kind out: for each kind, the settings that score best on all other kinds are chosen
//   from the same grid, and the kind is judged with those. By how many traces does its result fall?
#pragma once

#include <vector>

#include "trace.h"

namespace plateau::bench {

// Prints both tables; 1 if a left-out kind falls by more than one trace, else 0.
int print_stability(const std::vector<Trace>& traces);

}  // namespace plateau::bench
