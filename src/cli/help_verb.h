// SPDX-License-Identifier: Apache-2.0
// `plateau help [VERB]`, and what plateau says of itself.
#pragma once

#include <string_view>

#include "command/verb.h"

namespace plateau {

inline constexpr std::string_view kTagline =
    "is it a leak, or will it plateau? watches training jobs, reads their logs, and says why";

Program plateau_program();

}  // namespace plateau
