// SPDX-License-Identifier: Apache-2.0
// The competing explanations: how much each is believed, and what speaks for and against it.
#pragma once

#include <vector>

#include "verdict/decision.h"
#include "verdict/verdict.h"

namespace plateau {

// One entry per family that was considered, by falling weight.
std::vector<Explanation> explain(const Decision& decision);

// The first of a camp, which is its likeliest; nullptr if there is none.
const Explanation* likeliest(const std::vector<Explanation>& explanations, bool bounded);

// An explanation as a name in a finding.
Name named(std::string_view slot, const Explanation& explanation);

}  // namespace plateau
