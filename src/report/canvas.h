// SPDX-License-Identifier: Apache-2.0
// A grid of dots to draw a plot on: braille (2 x 4 dots a character) or plain ASCII (one).
//
// A character shows all dots that fall on it, in the colour of the topmost layer among them. Dots
// outside the grid are ignored, so callers clip nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/text.h"

namespace plateau {

// From the bottom up. In ASCII each has its own character: ':' '-' '.' '*' '^'.
enum class Layer : uint8_t { none, boundary, limit, forecast, floor, spike };

class Canvas {
 public:
  Canvas(size_t columns, size_t rows, bool braille);

  [[nodiscard]] size_t dots_wide() const { return columns_ * dots_across_; }
  [[nodiscard]] size_t dots_high() const { return rows_ * dots_down_; }

  // (0, 0) is the bottom left.
  void dot(int64_t x, int64_t y, Layer layer);
  // A line from one dot to another; of `period` dots along it, the first is drawn (1 = solid).
  void line(int64_t x0, int64_t y0, int64_t x1, int64_t y1, Layer layer, int64_t period = 1);

  // Row 0 is the top. Always `columns` characters wide.
  [[nodiscard]] std::string row(size_t index, const View& view) const;

 private:
  struct Cell {
    uint8_t dots = 0;
    Layer top = Layer::none;
  };

  size_t columns_;
  size_t rows_;
  size_t dots_across_;
  size_t dots_down_;
  std::vector<Cell> cells_;
};

// Linear map of a range of values to dots 0 .. dots - 1.
struct Scale {
  double low = 0;
  double high = 1;
  size_t dots = 1;

  [[nodiscard]] int64_t dot_of(double value) const;
};

// Round values inside [low, high], about `count` of them, at distances of 1, 2, 2.5 or 5 times a
// power of ten. Empty if the range is empty or not finite.
std::vector<double> round_ticks(double low, double high, size_t count);

}  // namespace plateau
