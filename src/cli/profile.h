// SPDX-License-Identifier: Apache-2.0
// `plateau profile`: which call stacks, Python types and tensors grow.
#pragma once

#include "cli/verb.h"

namespace plateau {

Verb profile_verb();

}  // namespace plateau
