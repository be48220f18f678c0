// SPDX-License-Identifier: Apache-2.0
// The traits of every look at every trace with the truth beside them: what fit_odds.py fits on.
#pragma once

#include <string>
#include <vector>

#include "trace.h"

namespace plateau::bench {

// CSV with a head line before the first directory only.
void print_traits(const std::string& directory, const std::vector<Trace>& traces);

}  // namespace plateau::bench
