// SPDX-License-Identifier: Apache-2.0
// Help for people at a terminal, from the table of verbs.
#pragma once

#include <span>
#include <string>

#include "command/verb.h"

namespace plateau {

// `plateau --help`: what it is for, the verbs, the way in.
std::string overview_help(const Program& program, std::span<const Verb> verbs);

// `plateau VERB --help`: usage, options by group, examples, exit codes.
std::string verb_help(const Verb& verb);

}  // namespace plateau
