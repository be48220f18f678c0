// SPDX-License-Identifier: Apache-2.0
// What the last readings of a log show when nobody says that the job has ended.
//
// Zeros at the end are a process that has gone, not one that needs nothing: they are left out. A
// fall at once to less than a quarter, after which it never comes back to half of what was held, is
// an end too: nobody gives back three quarters of everything between two readings and goes on. The
// longer of the two parts is kept, and a note says so. A saw has many such falls; then none of them
// is an end.
#pragma once

#include "recording/run.h"

namespace plateau {

// Marks the end of the job in a run that was read from a foreign log. Only where the log knows a
// single process: where it knows several, their coming and going says more.
void mark_endings(Run& run);

}  // namespace plateau
