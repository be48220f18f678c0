// SPDX-License-Identifier: Apache-2.0
// judge() in its parts, for those of this room who need what lies between them: the decision behind
// a verdict, or verdicts of many prefixes whose signals are made together.
#pragma once

#include "verdict/case_file.h"
#include "verdict/signal.h"
#include "verdict/verdict.h"

namespace plateau {

// The signals of `prefix` that its verdict is taken from: of several lives of the job those of the
// most telling one, or, where that one does not decide, of the latest other one that does.
Signals telling_signals(const TreeColumns& columns, const Run& prefix, const Policy& policy);

// judge(run), with the signals made by the caller.
Verdict judge_signals(const Run& run, const Signals& signals, const Policy& policy);

// Opens the case, decides every component and picks the one that decides.
// Requires: at least one component; `run` and `signals` outlive the result.
CaseFile decide_case(const Run& run, const Signals& signals, const Policy& policy);

// Everything that a report may say about a decided case.
Verdict sum_up(const CaseFile& file);

}  // namespace plateau
