// SPDX-License-Identifier: Apache-2.0
#include "report/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/utf8.h"

namespace plateau {
namespace {

constexpr size_t kLayers = 6;
constexpr std::array<Ink, kLayers> kInks = {Ink::plain,  Ink::dim,  Ink::red,
                                            Ink::yellow, Ink::blue, Ink::magenta};
constexpr std::array<char, kLayers> kMarks = {' ', ':', '-', '.', '*', '^'};

// Bit of the braille pattern for a dot at column x, row y counted from the top.
constexpr std::array<std::array<uint8_t, 4>, 2> kBrailleBits = {
    {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};
constexpr char32_t kBrailleBase = 0x2800;

}  // namespace

Canvas::Canvas(size_t columns, size_t rows, bool braille)
    : columns_(columns),
      rows_(rows),
      dots_across_(braille ? 2 : 1),
      dots_down_(braille ? 4 : 1),
      cells_(columns * rows) {}

void Canvas::dot(int64_t x, int64_t y, Layer layer) {
  if (x < 0 || y < 0) return;
  const auto column = static_cast<size_t>(x) / dots_across_;
  const auto row_from_bottom = static_cast<size_t>(y) / dots_down_;
  if (column >= columns_ || row_from_bottom >= rows_) return;
  Cell& cell = cells_[(rows_ - 1 - row_from_bottom) * columns_ + column];
  const size_t down = dots_down_ - 1 - static_cast<size_t>(y) % dots_down_;
  cell.dots |= kBrailleBits[static_cast<size_t>(x) % dots_across_][down];
  cell.top = std::max(cell.top, layer);
}

void Canvas::line(int64_t x0, int64_t y0, int64_t x1, int64_t y1, Layer layer, int64_t period) {
  const int64_t length = std::max(std::abs(x1 - x0), std::abs(y1 - y0));
  for (int64_t i = 0; i <= length; i += period) {
    const double along = length == 0 ? 0 : static_cast<double>(i) / static_cast<double>(length);
    const auto x = x0 + std::llround(along * static_cast<double>(x1 - x0));
    const auto y = y0 + std::llround(along * static_cast<double>(y1 - y0));
    dot(x, y, layer);
  }
}

std::string Canvas::row(size_t index, const View& view) const {
  std::string out;
  std::string same_ink;
  Ink ink = Ink::plain;
  for (size_t column = 0; column < columns_; ++column) {
    const Cell& cell = cells_[index * columns_ + column];
    const Ink next = kInks[static_cast<size_t>(cell.top)];
    if (next != ink) {
      out += paint(view, ink, same_ink);
      same_ink.clear();
      ink = next;
    }
    if (dots_across_ == 1 || cell.dots == 0) {
      same_ink.push_back(kMarks[static_cast<size_t>(cell.top)]);
    } else {
      append_utf8(same_ink, kBrailleBase + cell.dots);
    }
  }
  return out + paint(view, ink, same_ink);
}

int64_t Scale::dot_of(double value) const {
  const double share = (value - low) / (high - low);
  if (!std::isfinite(share)) return 0;
  // Far outside is outside: the clamp only keeps the cast defined.
  return std::llround(std::clamp(share, -10.0, 10.0) * static_cast<double>(dots - 1));
}

std::vector<double> round_ticks(double low, double high, size_t count) {
  std::vector<double> ticks;
  if (!(high > low) || !std::isfinite(high - low) || count == 0) return ticks;
  const double rough = (high - low) / static_cast<double>(count);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= rough * 0.999) {
      step = factor * power;
      break;
    }
  }
  const double first = std::ceil(low / step - 1e-9);
  for (double i = first; i * step <= high + 1e-9 * step && ticks.size() < 100; ++i) {
    ticks.push_back(i * step + 0.0);  // Turns -0 into 0.
  }
  return ticks;
}

}  // namespace plateau
