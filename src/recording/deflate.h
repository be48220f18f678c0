// SPDX-License-Identifier: Apache-2.0
// Compressed bytes inside a record: a zlib stream whose plain size is known beforehand.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace plateau {

std::string deflated(std::string_view plain);

// Exactly `size` plain bytes, or nullopt if the stream is damaged or holds more or less. Never
// allocates more than `size` and zlib's own window, whatever the stream says.
std::optional<std::string> inflated(std::string_view bytes, size_t size);

}  // namespace plateau
