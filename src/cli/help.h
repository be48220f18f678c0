// SPDX-License-Identifier: Apache-2.0
// Help for people at a terminal, from the table of verbs.
#pragma once

#include <span>
#include <string>

#include "cli/verb.h"

namespace plateau {

inline constexpr std::string_view kTagline =
    "is it a leak, or will it plateau? watches training jobs, reads their logs, and says why";

// `plateau --help`: what it is for, the verbs, the way in.
std::string overview_help(const Program& program, std::span<const Verb> verbs);
Program plateau_program();

// `plateau VERB --help`: usage, options by group, examples, exit codes.
std::string verb_help(const Verb& verb);

// `plateau help [VERB]`.
Verb help_verb();

}  // namespace plateau
