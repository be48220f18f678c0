// SPDX-License-Identifier: Apache-2.0
// States of a live screen that tests draw.
#pragma once

#include "report/live.h"

namespace plateau {

// A training job of five processes at step 70 of 250, undecided. Every figure is known.
LiveState live_example();

// The same with `workers` data workers below the main process; the later ones have grown more.
LiveState crowded_example(int workers);

}  // namespace plateau
