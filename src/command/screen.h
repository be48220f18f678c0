// SPDX-License-Identifier: Apache-2.0
// How to draw, decided from flags, environment and terminal.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "report/text.h"

namespace plateau {

// What surrounds the process, gathered once so that the decision itself is a pure function.
struct Surroundings {
  bool is_terminal = false;
  std::optional<size_t> terminal_columns;
  // Value of an environment variable; nullopt if it is not set.
  std::function<std::optional<std::string>(std::string_view)> variable;
};
Surroundings look_around(int fd = 1);  // The descriptor to draw on.

// Colour: `color` "always" or "never" decides; "auto" means yes on a terminal that is not dumb,
// with NO_COLOR against and CLICOLOR_FORCE for it, in that order. Width: `width`, the terminal,
// COLUMNS,
// 80. Braille and dashes: only in a UTF-8 locale.
View choose_view(const Surroundings& around, std::string_view color, std::optional<size_t> width);

bool stdin_is_terminal();
bool stderr_is_terminal();

}  // namespace plateau
