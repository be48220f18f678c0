// SPDX-License-Identifier: Apache-2.0
// Answers packed for the way, where the client says that it can unpack them.
#pragma once

#include <string_view>

namespace plateau {

// For gzipped(): pages of a live run are packed again and again.
inline constexpr int kLivePageLevel = 3;

// Does an Accept-Encoding header admit gzip? "gzip;q=0" does not.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace plateau
