// SPDX-License-Identifier: Apache-2.0
// `plateau profile PID --for 30s`: the heap of a process that was not started under plateau.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "command/output.h"
#include "recording/run.h"

namespace plateau {

// Loads the tracer into `pid` for `seconds`, takes it out, and returns a run that has only heaps:
// what was allocated meanwhile, over time. Says on standard error what it does to the process.
Result<Run> trace_process(pid_t pid, double seconds, Output& out);

}  // namespace plateau
