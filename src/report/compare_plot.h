// SPDX-License-Identifier: Apache-2.0
// The compared runs over one clock, one line each, named where it ends.
#pragma once

#include <string>

#include "report/text.h"
#include "verdict/compare.h"

namespace plateau {

// The first run of up to four sides. "" if they count on different clocks or have too few points.
std::string render_comparison_plot(const Comparison& comparison, const View& view);

}  // namespace plateau
