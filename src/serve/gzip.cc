// SPDX-License-Identifier: Apache-2.0
#include "serve/gzip.h"

#include "base/text.h"

namespace plateau {

bool accepts_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    std::string_view coding = trim(take_part(accept_encoding, ','));
    if (!equal_ignoring_case(trim(take_part(coding, ';')), "gzip")) continue;
    take_part(coding, '=');
    return coding.empty() || parse_double(coding).value_or(0) > 0;
  }
  return false;
}

}  // namespace plateau
