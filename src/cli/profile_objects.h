// SPDX-License-Identifier: Apache-2.0
// `plateau profile PID --objects`: the Python objects of a live process, by type.
#pragma once

#include <sys/types.h>

#include <vector>

#include "command/verb.h"

namespace plateau {

// --objects, --again and --max-stop. The verb's own --top, --json, --color and --width hold too.
Options objects_options();

// Counts once, or twice with --again, and prints. Says on standard error, before it does so, that
// the process is stopped and for how long at most. Returns the exit code.
int profile_objects(const Invocation& invocation, pid_t pid);

}  // namespace plateau
