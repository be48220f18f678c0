// SPDX-License-Identifier: Apache-2.0
// `plateau train` and `plateau plan`: verbs of the program plateau-train, which stands beside this
// one because it needs LibTorch. Their options are declared there.
#pragma once

#include "command/verb.h"

namespace plateau {

// run() becomes plateau-train.
Verb train_verb();
Verb plan_verb();

}  // namespace plateau
