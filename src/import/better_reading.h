// SPDX-License-Identifier: Apache-2.0
// Two readers of one log: that of its format, and what was learned from the file. Which one is
// taken. Both are tried on the same sample.
//
// The reader of a format knows what its words mean: restarts, epochs, evaluations. What was learned
// knows this log: which of its figures is the memory, in which unit, and whose. So the format's
// reading holds unless the other has more readings, is surer of unit or figure, or the format's is
// one that no memory gives: zeros, a number that never moves, several things in turn as one course,
// a clock that goes back every few lines.
#pragma once

#include <vector>

#include "base/result.h"
#include "import/reading.h"
#include "recording/run.h"

namespace plateau {

size_t samples_in(const std::vector<Run>& runs);

bool reads_better(const Reading& reading, const Result<std::vector<Run>>& by_format);

}  // namespace plateau
