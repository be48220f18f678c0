// SPDX-License-Identifier: Apache-2.0
// A run without what was measured in it: whoever makes a smaller run of it fills in the part that
// it is about.
#pragma once

#include "recording/run.h"

namespace plateau {

// What the run says of itself, its instants and its events; no processes, series, gauges or heaps.
Run frame_of(const Run& run);

}  // namespace plateau
