// SPDX-License-Identifier: Apache-2.0
// Figures that stand beside the memory in a log and could be the memory instead: gauges in MB.
//
// A log often has several ("heap.current" beside "ram.current"), and which of them is the one to
// judge is a choice of the reader. The others are kept, so that no all-clear rests on that choice.
#pragma once

#include <string_view>

namespace plateau {

// Before the name under which the log has it.
inline constexpr std::string_view kOtherFigure = "other_mb.";

}  // namespace plateau
