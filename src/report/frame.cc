// SPDX-License-Identifier: Apache-2.0
#include "report/frame.h"

#include <algorithm>
#include <optional>

#include "base/utf8.h"

namespace plateau {
namespace {

constexpr std::string_view kCommand = "\x1b[";

struct Paint {
  Ink ink = Ink::plain;
  size_t bytes = 0;
};

// The colour command at the front, if it is one that paint() writes. `base` is the ink to which
// the end of a painted stretch returns.
std::optional<Paint> paint_at(std::string_view text, Ink base) {
  if (!text.starts_with(kCommand)) return std::nullopt;
  const size_t end = text.find('m');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view code = text.substr(kCommand.size(), end - kCommand.size());
  if (code == "0") return Paint{base, end + 1};
  for (const Ink ink : {Ink::bold, Ink::dim, Ink::red, Ink::green, Ink::yellow, Ink::blue,
                        Ink::magenta, Ink::cyan}) {
    if (code == ink_code(ink)) return Paint{ink, end + 1};
  }
  return std::nullopt;
}

bool is_control(char32_t value) {
  return value < 0x20 || (value >= 0x7F && value <= 0x9F);
}

}  // namespace

void Frame::set(size_t row, size_t column, const Cell& cell) {
  Cell* cells = &cells_[row * columns_];
  // Half of a wide character does not survive the other half.
  if (cells[column].glyph == 0 && column > 0) cells[column - 1].glyph = U' ';
  if (column + 1 < columns_ && cells[column + 1].glyph == 0) cells[column + 1].glyph = U' ';
  cells[column] = cell;
}

size_t Frame::put(size_t row, size_t column, std::string_view text, Ink ink) {
  if (row >= rows_) return column;
  Ink now = ink;
  while (!text.empty() && column < columns_) {
    if (const std::optional<Paint> paint = paint_at(text, ink)) {
      now = paint->ink;
      text.remove_prefix(paint->bytes);
      continue;
    }
    const CodePoint point = decode_utf8(text);
    text.remove_prefix(point.bytes);
    const size_t width = is_control(point.value) ? 0 : glyph_width(point.value);
    if (width == 0) continue;
    if (width == 2 && column + 1 == columns_) {
      set(row, column++, {U' ', now, false});
      break;
    }
    set(row, column, {point.value, now, false});
    if (width == 2) {
      set(row, column + 1, {U' ', now, false});
      cells_[row * columns_ + column + 1].glyph = 0;
    }
    column += width;
  }
  return column;
}

void Frame::reverse(size_t row, size_t from, size_t to) {
  if (row >= rows_) return;
  for (size_t column = from; column < std::min(to, columns_); ++column) {
    cells_[row * columns_ + column].reverse = true;
  }
}

std::string Frame::row_text(size_t row) const {
  std::string text;
  for (size_t column = 0; row < rows_ && column < columns_; ++column) {
    const char32_t glyph = at(row, column).glyph;
    if (glyph != 0) append_utf8(text, glyph);
  }
  text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

std::string Frame::text() const {
  std::string text;
  for (size_t row = 0; row < rows_; ++row) text += row_text(row) + "\n";
  return text;
}

}  // namespace plateau
