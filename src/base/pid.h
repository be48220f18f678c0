// SPDX-License-Identifier: Apache-2.0
// Process ids as people write them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

namespace plateau {

// Nothing but digits, of a process that there can be: what does not fit into a pid_t would be
// another process's.
std::optional<pid_t> parse_pid(std::string_view digits);

}  // namespace plateau
