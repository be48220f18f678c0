// SPDX-License-Identifier: Apache-2.0
// The files of a program that runs, as that process sees them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace plateau {

// The text of `file`, a path as the process knows it: in its own root, relative to its own working
// directory. nullopt for anything but a regular file of at most 1 MiB, and for one that was changed
// after the process had begun: what runs is not what it says.
std::optional<std::string> program_text(pid_t pid, const std::string& file);

}  // namespace plateau
