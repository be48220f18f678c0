// SPDX-License-Identifier: Apache-2.0
// `plateau try PID trim|gc`: an experiment inside a running process, and what it proves.
#pragma once

#include "command/verb.h"

namespace plateau {

Verb try_verb();

}  // namespace plateau
