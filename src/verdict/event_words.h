// SPDX-License-Identifier: Apache-2.0
// Growth by clock in words, one sentence per clock.
#pragma once

#include <vector>

#include "verdict/event_growth.h"

namespace plateau {

// Fills ClockGrowth::words from the figures beside them. `background` is growth per unit of the
// run's clock outside all events, MB.
void say_growth(const Verdict& verdict, double background, std::vector<ClockGrowth>& clocks);

}  // namespace plateau
