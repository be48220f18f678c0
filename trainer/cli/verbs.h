// SPDX-License-Identifier: Apache-2.0
// The verbs of plateau-train, each declared and run in the file of its name.
#pragma once

#include "command/verb.h"

namespace plateau::train {

Program trainer_program();  // verbs.cc
Verb init_command();
Verb plan_command();
Verb train_command();
Verb ask_command();
Verb merge_command();
Verb check_command();
Verb render_command();

// Of `message`, an Error's, to standard error; the exit code that goes with it.
int complain(const Invocation& invocation, const std::string& message);

}  // namespace plateau::train
