// SPDX-License-Identifier: Apache-2.0
// The points a report draws: the judged series, thinned so that no extreme is lost.
#pragma once

#include "verdict/case_file.h"

namespace plateau {

// Fills Verdict::plot (at most 2,000 points; of each stretch the lowest and the highest) and marks.
void fill_plot(const CaseFile& file, Verdict& verdict);

}  // namespace plateau
