// SPDX-License-Identifier: Apache-2.0
// Finds the recording that a running plateau is writing of a process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plateau {

// Files ending in .plateau that running `plateau` processes hold open, as they can be opened from
// here. Processes of other users cannot be looked into and are skipped. `proc` is for tests.
std::vector<std::string> open_recordings(const std::string& proc = "/proc");

}  // namespace plateau
