// SPDX-License-Identifier: Apache-2.0
// What a user says about a job, beside what its log says.
#pragma once

#include "recording/run.h"

namespace plateau {

// Puts the given facts over the run's own. Steps per epoch that the log states give way to given
// examples and batch: the user knows better.
void apply_facts(const Context& given, Context& context);

}  // namespace plateau
