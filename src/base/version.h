// SPDX-License-Identifier: Apache-2.0
// The version of this program and its day. CMakeLists.txt has both, and one source is compiled with
// them, so that a new version is a matter of seconds to build.
#pragma once

#include <string_view>

namespace plateau {

// "0.2.0".
std::string_view version();
// "2026-11-18": of the version, not of the build, which would give other bytes every day.
std::string_view release_date();

}  // namespace plateau
