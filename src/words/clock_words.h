// SPDX-License-Identifier: Apache-2.0
// Growth by clock in words, one sentence per clock.
#pragma once

#include <string>
#include <vector>

#include "verdict/event_growth.h"

namespace plateau {

// The sentence for clocks[which], without a full stop. What it says of one clock depends on what
// the others explain. Requires: `clocks` is growth_by_clock() of the verdict's run.
std::string clock_growth_words(const Verdict& verdict, const std::vector<ClockGrowth>& clocks,
                               size_t which);

}  // namespace plateau
