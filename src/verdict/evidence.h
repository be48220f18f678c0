// SPDX-License-Identifier: Apache-2.0
// What speaks for the word, what is missing, and what to try: the findings of a decided case.
#pragma once

#include "verdict/case_file.h"

namespace plateau {

// Fills evidence, warnings, undecided_because, experiment and missing. Requires: everything else of
// `verdict` but its causes is complete.
void gather_evidence(const CaseFile& file, Verdict& verdict);

}  // namespace plateau
