// SPDX-License-Identifier: Apache-2.0
// UTF-8, one code point at a time, for text that was written by others.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plateau {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;   // Consumed, 1 to 4.
  bool valid = true;  // False: `value` is U+FFFD and stands for one bad byte.
};

// Decodes the code point at the front. Overlong forms, surrogates, values past U+10FFFF and cut-off
// sequences are invalid and consume one byte. Requires: `text` is not empty.
CodePoint decode_utf8(std::string_view text);

// Appends `value` to `out`; what is no code point is appended as U+FFFD.
void append_utf8(std::string& out, char32_t value);

}  // namespace plateau
