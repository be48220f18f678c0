// SPDX-License-Identifier: Apache-2.0
// `plateau judge`: leak or plateau, and why.
#pragma once

#include "command/verb.h"

namespace plateau {

Verb judge_verb();

}  // namespace plateau
