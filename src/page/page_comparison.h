// SPDX-License-Identifier: Apache-2.0
// Two or more runs side by side, as the page shows them: ComparisonPage of web/src/data.ts.
//
// Sentences, titles and units are those of `plateau compare` (report/compare.h).
#pragma once

#include <span>
#include <string>

#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

// One JSON object. Each run is a side, the first is the baseline. Pure.
// Requires: at least two runs.
std::string comparison_page_json(std::span<const Run> runs, const Policy& policy);

}  // namespace plateau
