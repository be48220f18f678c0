// SPDX-License-Identifier: Apache-2.0
#include "serve/gzip.h"

#include "base/text.h"

namespace plateau {
namespace {

std::string_view next_part(std::string_view& rest, char separator) {
  const size_t end = rest.find(separator);
  const std::string_view part = trim(rest.substr(0, end));
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    std::string_view coding = next_part(accept_encoding, ',');
    if (!equal_ignoring_case(next_part(coding, ';'), "gzip")) continue;
    next_part(coding, '=');
    return coding.empty() || parse_double(coding).value_or(0) > 0;
  }
  return false;
}

}  // namespace plateau
