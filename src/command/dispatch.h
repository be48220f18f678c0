// SPDX-License-Identifier: Apache-2.0
// Finds the verb, parses its arguments, runs it.
#pragma once

#include <span>
#include <string>

#include "command/output.h"
#include "command/verb.h"

namespace plateau {

// `words` is the command line without the program's name. Returns the exit code; never exits.
int dispatch(const Program& program, std::span<const Verb> verbs,
             std::span<const std::string> words, Output& out);

}  // namespace plateau
