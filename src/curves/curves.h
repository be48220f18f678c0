// SPDX-License-Identifier: Apache-2.0
// Named numbers of one moment, for those who draw them over steps.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace plateau {

using Curves = std::vector<std::pair<std::string, double>>;  // By name; all finite.

}  // namespace plateau
