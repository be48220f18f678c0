// SPDX-License-Identifier: Apache-2.0
// Two or more runs side by side, as the page shows them: ComparisonPage of web/src/data.ts.
//
// Sentences, titles and units are those of `plateau compare` (report/compare.h).
#pragma once

#include <string>

#include "verdict/compare.h"

namespace plateau {

// One JSON object. Requires: each run is a side, the first is the baseline.
std::string comparison_page_json(const Comparison& comparison);

}  // namespace plateau
