// SPDX-License-Identifier: Apache-2.0
// Is what the verdict says with p per cent true in p per cent of the cases? And how early, how
// steadily, and how well do its intervals hold? Every figure is over looks at 20 %, 30 %, ... 100 %
// of each trace, or over traces, as its line says.
#pragma once

#include <vector>

#include "trace.h"

namespace plateau::bench {

// Markdown.
void print_calibration(const std::vector<Trace>& traces);

}  // namespace plateau::bench
