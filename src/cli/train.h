// SPDX-License-Identifier: Apache-2.0
// `plateau train` and `plateau plan`: verbs of the program plateau-train, which stands beside this
// one because it needs LibTorch. Declared here once, so that help, manual page and completions have
// them and both programs read the same options.
#pragma once

#include "cli/verb.h"

namespace plateau {

// run() becomes plateau-train; plateau-train puts its own in place of it.
Verb train_verb();
Verb plan_verb();

}  // namespace plateau
