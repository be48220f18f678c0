// SPDX-License-Identifier: Apache-2.0
// The version of this program. CMakeLists.txt has it, and one source is compiled with it, so that a
// new version is a matter of seconds to build.
#pragma once

#include <string_view>

namespace plateau {

// "0.2.0".
std::string_view version();

}  // namespace plateau
