// SPDX-License-Identifier: Apache-2.0
// `plateau profile`: which call stacks, Python types and tensors grow.
#pragma once

#include "command/verb.h"

namespace plateau {

Verb profile_verb();

}  // namespace plateau
