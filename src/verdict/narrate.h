// SPDX-License-Identifier: Apache-2.0
// The verdict's sentences: headline, evidence, what is tied, which experiment, what is missing.
// They are part of the verdict, because every number in an answer must be explained by it.
#pragma once

#include "verdict/case_file.h"

namespace plateau {

// Fills headline, evidence, undecided_because, experiment, missing and warnings from the numbers
// already in `verdict`.
void narrate(const CaseFile& file, Verdict& verdict);

}  // namespace plateau
