// SPDX-License-Identifier: Apache-2.0
// What the verdict saw at every tenth of a trace, for programs that look for more in it
// (ceiling.py).
#pragma once

#include <string>
#include <vector>

#include "trace.h"

namespace plateau::bench {

// One JSON object a line and trace: its truth, the curve of its tree, and at 30 %, 40 %, ... 100 %
// word, odds and weights.
void print_looks(const std::string& directory, const std::vector<Trace>& traces);

}  // namespace plateau::bench
