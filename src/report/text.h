// SPDX-License-Identifier: Apache-2.0
// Text for a terminal: measured, wrapped, painted. What was read from a log passes printable()
// first; colours are added after it, by paint() alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "verdict/verdict.h"

namespace plateau {

// How to draw; decided by cli, from flags, environment and terminal.
struct View {
  size_t width = 80;  // Columns of the terminal; drawing holds from 60 to 200.
  bool color = false;
  bool utf8 = true;  // False: the result is ASCII only.
  bool plot = true;
};

enum class Ink : uint8_t { plain, bold, dim, red, green, yellow, blue, magenta, cyan };

// The numbers of the terminal's colour command (SGR) for an ink: "1;31"; "" for plain.
// Colours come bold: plain yellow on white and plain blue on black are hard to read.
std::string_view ink_code(Ink ink);

// `text` in the colour, or as it is when the view has none.
std::string paint(const View& view, Ink ink, std::string_view text);

// The colour of an answer.
Ink word_ink(Word word);

// Columns one character takes: 0, 1 or 2.
size_t glyph_width(char32_t glyph);

// Columns the text takes: East Asian wide characters and emoji count two, combining marks none.
// Requires: `text` is printable() and unpainted.
size_t display_width(std::string_view text);

// Breaks at spaces into lines of at most `width` columns, but not between a number and its unit
// ("99.9 %", "17.4 GB"); a longer word is broken where it must be. Never returns an empty list.
std::vector<std::string> wrap(std::string_view text, size_t width);

// The same as one text, each line ended by a newline.
std::string wrapped(std::string_view text, size_t width);

// Pads with spaces on the right (or left) to `width` columns; longer text is returned as it is.
std::string pad_right(std::string_view text, size_t width);
std::string pad_left(std::string_view text, size_t width);

// Cuts to `width` columns, ending in an ellipsis if something was cut.
std::string shorten(std::string_view text, size_t width);

// Spells out what the report uses beyond ASCII ("->" for an arrow); anything else becomes '?'.
std::string to_ascii(std::string_view text);

}  // namespace plateau
