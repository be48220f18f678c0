// SPDX-License-Identifier: Apache-2.0
// The competing explanations in words: what each says, how much it is believed, and what speaks for
// and against it. Formatting of numbers happens here because the sentences are evidence, part of
// the verdict, the same in terminal, JSON and page.
#pragma once

#include <vector>

#include "verdict/decision.h"
#include "verdict/verdict.h"

namespace plateau {

// One entry per family that was considered, by falling weight.
std::vector<Explanation> explain(const Decision& decision, const Timeline& timeline, Clock clock);

// "step 83", "14 min" or "sample 12".
std::string clock_words(Clock clock, double at);

// "per step", "per second", "per sample".
std::string per_clock_words(Clock clock);

}  // namespace plateau
