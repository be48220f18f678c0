// SPDX-License-Identifier: Apache-2.0
// A picture of a terminal: a grid of cells, without a byte of terminal language.
//
// Renderers fill a Frame, a driver (cli/terminal.h) shows it, tests read it as text.
// Plain data, value semantics. Writing outside the grid is ignored, so callers clip nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/text.h"

namespace plateau {

struct Cell {
  char32_t glyph = U' ';  // 0 in the right half of a wide character.
  Ink ink = Ink::plain;
  bool reverse = false;  // Dark on light: the selected row, a bar at the foot.

  bool operator==(const Cell&) const = default;
};

class Frame {
 public:
  Frame() = default;
  Frame(size_t columns, size_t rows) : columns_(columns), rows_(rows), cells_(columns * rows) {}

  [[nodiscard]] size_t columns() const { return columns_; }
  [[nodiscard]] size_t rows() const { return rows_; }

  // Requires: row < rows(), column < columns().
  [[nodiscard]] const Cell& at(size_t row, size_t column) const {
    return cells_[row * columns_ + column];
  }

  // Writes `text` from a cell on, cut at the right edge; returns the column after it. The text may
  // hold the colours that paint() of report/text.h adds; every other control character and every
  // mark without a width is left out. A wide character that would be cut in half becomes a space.
  size_t put(size_t row, size_t column, std::string_view text, Ink ink = Ink::plain);

  // Turns the cells of a row from one column up to (not with) another dark on light.
  void reverse(size_t row, size_t from, size_t to);

  // One row as UTF-8 text without colours and without the spaces at its end.
  [[nodiscard]] std::string row_text(size_t row) const;
  // All rows, each ended by a newline.
  [[nodiscard]] std::string text() const;

  bool operator==(const Frame&) const = default;

 private:
  void set(size_t row, size_t column, const Cell& cell);

  size_t columns_ = 0;
  size_t rows_ = 0;
  std::vector<Cell> cells_;
};

}  // namespace plateau
