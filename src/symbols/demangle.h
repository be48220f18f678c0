// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace plateau {

// "ns::f(int)" of "_ZN2ns1fEi"; what is not mangled, or cannot be undone, comes back as it is.
std::string demangled(const std::string& symbol);

}  // namespace plateau
