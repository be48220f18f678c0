// SPDX-License-Identifier: Apache-2.0
// Unknown texts: empty in what a report is made of, null in its JSON.
#pragma once

#include <string_view>

#include "base/json_writer.h"

namespace plateau {

inline void text_or_null(JsonWriter& json, std::string_view text) {
  if (text.empty()) {
    json.null();
  } else {
    json.value(text);
  }
}

}  // namespace plateau
