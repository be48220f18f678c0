// SPDX-License-Identifier: Apache-2.0
// A verdict made ready to be shown: its texts harmless, the importer's complaints among its notes.
#pragma once

#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

// The same verdict with every text passed through printable() of report/text.h.
Verdict printable_verdict(Verdict verdict);

// Appends to `notes` what the importer noted and which lines it could not read.
void add_input_warnings(Verdict& verdict, const Run& run);

}  // namespace plateau
