// SPDX-License-Identifier: Apache-2.0
// `plateau completion SHELL`: completions, from the table of verbs.
#pragma once

#include <span>
#include <string>

#include "command/verb.h"

namespace plateau {

std::string bash_completion(std::span<const Verb> verbs);
std::string zsh_completion(std::span<const Verb> verbs);
std::string fish_completion(std::span<const Verb> verbs);

}  // namespace plateau
