// SPDX-License-Identifier: Apache-2.0
// Since when does it grow?
//
// The moment that lies furthest below the straight line from the floor's first point to its last.
// For steady growth no point does, and it grows since the start; for growth that sets in late the
// onset does.
//
// Worked case: 100 MB until step 400, then +1 MB a step until step 1,000, ends at 700 MB. The line
// passes 340 MB at step 400, 240 above the floor; nowhere is the distance larger.
//
// Blind spot: of several onsets the one before most of the growth is named.
#pragma once

#include <optional>

#include "verdict/verdict.h"

namespace plateau {

// On the run's clock; the first moment of the run if it grows since then. Empty if it is level, or
// growth is not told from none. Requires: everything else of `verdict` is known, its plot included.
std::optional<double> find_onset(const Verdict& verdict);

}  // namespace plateau
