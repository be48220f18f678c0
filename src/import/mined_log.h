// SPDX-License-Identifier: Apache-2.0
// Applies a Reading to a whole file; see reading.h for how it is learned.
#pragma once

#include "import/line_reader.h"
#include "import/readers.h"
#include "import/reading.h"

namespace plateau {

// Runs of what `reading` finds in `lines`; none if it finds nothing. Requires: has_memory.
Result<Runs> read_mined(LineReader& lines, Reading& reading);

// What was taken as what, a sentence each: the layout, the memory, its unit, the clock, the series.
std::vector<std::string> describe_reading(const Reading& reading);

}  // namespace plateau
