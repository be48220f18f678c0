// SPDX-License-Identifier: Apache-2.0
// The ranks and nodes of a job as rows of the terminal report.
#pragma once

#include "report/layout.h"
#include "verdict/verdict.h"

namespace plateau {

// The ranks that are not level first; the level ones are counted. Of a recording that is one rank
// of a job, which one. Nothing where no launcher said anything.
// Requires: a printable verdict (see report/printable.h).
void say_job(const Verdict& verdict, const View& view, Layout& layout);

}  // namespace plateau
