// SPDX-License-Identifier: Apache-2.0
// `plateau man`: the manual page, from the table of verbs.
#pragma once

#include <span>
#include <string>

#include "command/verb.h"

namespace plateau {

// roff for man(7), clean under `mandoc -T lint`.
std::string manual_page(std::span<const Verb> verbs);

}  // namespace plateau
