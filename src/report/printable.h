// SPDX-License-Identifier: Apache-2.0
// A verdict made ready to be shown: its texts harmless.
#pragma once

#include "verdict/verdict.h"

namespace plateau {

// The same verdict with every text passed through printable() of base/printable.h.
Verdict printable_verdict(Verdict verdict);

}  // namespace plateau
