// SPDX-License-Identifier: Apache-2.0
// `plateau convert`: what was understood of a log, as tidy CSV.
#pragma once

#include "command/verb.h"

namespace plateau {

Verb convert_verb();

}  // namespace plateau
