// SPDX-License-Identifier: Apache-2.0
// `plateau run -- COMMAND`: start a job, watch its whole process tree, say the verdict at the end.
#pragma once

#include "command/verb.h"

namespace plateau {

Verb run_verb();

}  // namespace plateau
