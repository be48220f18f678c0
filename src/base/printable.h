// SPDX-License-Identifier: Apache-2.0
// The gate that text written by others passes before it is shown: a log or a name may hold
// anything, colours, cursor movements, half a UTF-8 sequence.
#pragma once

#include <string>
#include <string_view>

namespace plateau {

// One line without control characters: escape sequences are dropped whole, tabs and line ends
// become spaces, invisible direction marks vanish, bad UTF-8 becomes U+FFFD.
std::string printable(std::string_view text);

}  // namespace plateau
