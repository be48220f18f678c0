// SPDX-License-Identifier: Apache-2.0
// What the tokenizer asks of Unicode: valid text, its composed form, and what sort a character is.
//
// Categories and composition are utf8proc's. Everything is pure; any thread may call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace plateau::train {

// The classes that the pre-tokenizer's pattern tells apart. A newline (\r or \n) is a space to the
// pattern's \s as well.
enum class CharClass : uint8_t { letter, number, space, newline, other };

CharClass char_class(char32_t value);

struct ClassedChar {
  char32_t value = 0;
  size_t bytes = 0;
  CharClass kind = CharClass::other;
};

// The character at `at`. Requires: `text` is valid UTF-8 and `at` the begin of a character in it.
ClassedChar char_at(std::string_view text, size_t at);

// `text` with U+FFFD for what is not UTF-8: one for each longest piece that could have begun a
// character, as Python, browsers and Rust replace it. A cut-off "\xE2\x82" is one, "\xFF\xFF" two.
std::string to_valid_utf8(std::string_view text);

// Normalisation form C of Unicode 9: later characters stay as they are (unicode_versions.h).
// Requires: `text` is valid UTF-8. Takes n log n time even for one long run of combining marks.
std::string to_nfc(std::string_view text);

}  // namespace plateau::train
