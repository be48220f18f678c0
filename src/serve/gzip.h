// SPDX-License-Identifier: Apache-2.0
// Answers packed for the way, where the client says that it can unpack them.
#pragma once

#include <string>
#include <string_view>

namespace plateau {

// A gzip stream of `bytes`; empty if there is no memory for it.
std::string gzip(std::string_view bytes);

// Does an Accept-Encoding header admit gzip? "gzip;q=0" does not.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace plateau
