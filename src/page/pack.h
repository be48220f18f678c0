// SPDX-License-Identifier: Apache-2.0
// Text that travels inside a page: spelled so that it cannot be markup, or escaped.
#pragma once

#include <string>
#include <string_view>

namespace plateau {

// With padding, without line ends.
std::string base64_of(std::string_view bytes);

// For the inside of an element or a quoted attribute: &, <, > and both quotes become entities, bad
// UTF-8 and what is no character become U+FFFD, and control characters other than tab and line end
// vanish: what is left may stand in HTML and in XML.
std::string html_escaped(std::string_view text);

}  // namespace plateau
