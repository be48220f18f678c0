// SPDX-License-Identifier: Apache-2.0
// Why it grows: known causes, ranked by how well the case matches them.
//
// A verdict separates ending from unending growth; a cause says what to change. Each cause is one
// entry of a table: a function that scores a case between 0 and 1, and three sentences (evidence
// from this case, the experiment that would prove it, the fix). Scores combine the shape's weight
// with the kind of page, the clock it follows, the process that grows and what the counts did, in
// the order of docs/is-it-a-leak.md. Ranked weights sum to 1 with a reserve for what the table does
// not know.
//
// Blind spot: a log of one number cannot show native against Python memory, or live against
// retained; such causes stay near each other and the experiment is what separates them.
#pragma once

#include <vector>

#include "verdict/case_file.h"

namespace plateau {

// At most five causes, the likeliest first. `verdict` is complete but for its causes.
std::vector<Cause> rank_causes(const CaseFile& file, const Verdict& verdict);

}  // namespace plateau
