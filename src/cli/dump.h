// SPDX-License-Identifier: Apache-2.0
// `plateau dump`: what a recording holds.
#pragma once

#include "command/verb.h"

namespace plateau {

Verb dump_verb();

}  // namespace plateau
