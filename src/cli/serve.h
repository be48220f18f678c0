// SPDX-License-Identifier: Apache-2.0
// `plateau serve [PID|FILE|DIR]...`: the live page of runs, over HTTP.
#pragma once

#include "command/verb.h"

namespace plateau {

Verb serve_verb();

}  // namespace plateau
