// SPDX-License-Identifier: Apache-2.0
// What `train` and `plan` take, and how they explain themselves. People type both behind `plateau`,
// which passes them on.
#pragma once

#include "command/verb.h"

namespace plateau::train {

// Without run(), which train.cc and plan.cc add.
Verb train_verb();
Verb plan_verb();

}  // namespace plateau::train
