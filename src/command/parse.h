// SPDX-License-Identifier: Apache-2.0
// From words on the command line to checked Arguments, following a verb's declaration.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "command/verb.h"

namespace plateau {

// Every option also takes "--name=value"; a later one wins over an earlier; "--" ends the options.
// "help" is among the options of the result if -h or --help was given, and then nothing else is
// checked. Errors are one sentence without the verb's name.
Result<Arguments> parse_arguments(const Verb& verb, std::span<const std::string> words);

}  // namespace plateau
