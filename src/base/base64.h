// SPDX-License-Identifier: Apache-2.0
// Base64, strictly: a picture whose text lost a character must not become another picture.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plateau {

// "data:image/png;base64,..." or bare base64; white space is let pass, anything else is an error,
// which begins with `name`.
Result<std::vector<std::byte>> decode_base64(std::string_view text, const std::string& name);

}  // namespace plateau
