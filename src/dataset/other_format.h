// SPDX-License-Identifier: Apache-2.0
// Dataset files that are no text in UTF-8: told by their first bytes, and refused with what makes
// JSON lines of them.
#pragma once

#include <string>
#include <string_view>

namespace plateau {

// A sentence, with the command where there is one; empty for text. `begin`: the first bytes, eight
// or more of them. The command is for a shell, with the file's own name in it.
std::string other_format(std::string_view begin, const std::string& file);

}  // namespace plateau
