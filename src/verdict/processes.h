// SPDX-License-Identifier: Apache-2.0
// Which process of the tree grows.
//
// The tree's verdict says that memory grows; the fix needs the process. Growth is compared over the
// window in which the tree grew: floor at its start against floor at its end, per process. A
// process that started inside the window counts with all it holds, one that ended with all it gave
// back.
//
// Worked case: parent 120 -> 121 MB, child 80 -> 140 MB. The child has 98 % of the growth, and is
// named although the parent is larger.
#pragma once

#include <vector>

#include "verdict/case_file.h"

namespace plateau {

// All processes by falling growth between the two clock values. Empty if nothing is known.
std::vector<ProcessGrowth> growth_by_process(const CaseFile& file, double from, double to);

}  // namespace plateau
