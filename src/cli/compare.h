// SPDX-License-Identifier: Apache-2.0
// `plateau compare`: did the fix work?
#pragma once

#include "command/verb.h"

namespace plateau {

Verb compare_verb();

}  // namespace plateau
