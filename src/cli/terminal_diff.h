// SPDX-License-Identifier: Apache-2.0
// From one picture to the next, in the language of terminals.
#pragma once

#include <string>

#include "report/frame.h"

namespace plateau {

// Bytes that turn a screen showing `before` into one showing `after`; "" if they are equal. Only
// changed cells are written, wrapped in a synchronized update (mode 2026), so that no half picture
// is seen. Of another size than `before` means that nothing on the screen is known: it is cleared.
//
// Requires: colours are off before, and are off after; lines do not wrap (DECAWM is off).
std::string encode_change(const Frame& before, const Frame& after);

}  // namespace plateau
