// SPDX-License-Identifier: Apache-2.0
// What the exit code says of a verdict, for scripts and CI.
#pragma once

#include <vector>

#include "command/exit_code.h"
#include "command/verb.h"
#include "verdict/expectation.h"
#include "verdict/verdict.h"

namespace plateau {

// What the codes of a verb mean whose answer is a verdict.
std::vector<ExitMeaning> verdict_exits();

// The code for a verdict. With an expected word only that very word is 0, and only if the rest of
// the expectation holds too: `--expect plateau` does not accept warming.
int exit_code_for(const Verdict& verdict, const Expectation& expected = {});

// The code for several files: trouble over leak over undecided over fine.
int worse_exit_code(int a, int b);

}  // namespace plateau
