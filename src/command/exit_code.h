// SPDX-License-Identifier: Apache-2.0
// Exit codes, for scripts and CI; what they say of a verdict stands in cli/exit_code.h.
#pragma once

namespace plateau {

inline constexpr int kExitFine = 0;
inline constexpr int kExitLeak = 1;  // Or whatever the verb was asked and answers with no.
inline constexpr int kExitTrouble = 2;
inline constexpr int kExitUndecided = 3;

}  // namespace plateau
