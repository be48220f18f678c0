// SPDX-License-Identifier: Apache-2.0
// The verdict as it would have been at each moment of the run: when did it know?
#pragma once

#include <span>
#include <string>

#include "report/text.h"
#include "verdict/hindsight.h"

namespace plateau {

// One line per prefix; unless `every`, only those at which the word changes, and the last. Ends in
// a sentence that says from which step on the final answer stood.
std::string render_replay(std::span<const Verdict> prefixes, const View& view, bool every);

}  // namespace plateau
