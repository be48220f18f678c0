// SPDX-License-Identifier: Apache-2.0
// `plateau watch PID`: the live screen of a job that already runs, or a line now and then.
#pragma once

#include "command/verb.h"

namespace plateau {

Verb watch_verb();

}  // namespace plateau
