// SPDX-License-Identifier: Apache-2.0
#include "report/compare_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "report/canvas.h"
#include "words/phrases.h"

namespace plateau {
namespace {

constexpr size_t kRows = 9;
constexpr size_t kGutter = 10;
constexpr size_t kNames = 3;  // A space and a name to the right of the plot.
constexpr size_t kMostSides = 4;
// Each side has a layer of its own, so a colour and, in ASCII, a character.
constexpr std::array<Layer, kMostSides> kLayers = {Layer::forecast, Layer::floor, Layer::spike,
                                                   Layer::limit};

struct Range {
  double step_low = HUGE_VAL;
  double step_high = -HUGE_VAL;
  double mb_low = HUGE_VAL;
  double mb_high = -HUGE_VAL;
};

bool drawable(const PlotPoint& point) {
  return std::isfinite(point.step) && std::isfinite(point.mb) && !point.spike;
}

Range range_of(const Comparison& comparison, size_t sides) {
  Range range;
  for (size_t i = 0; i < sides; ++i) {
    for (const PlotPoint& point : comparison.sides[i].verdicts.front().plot) {
      if (!drawable(point)) continue;
      range.step_low = std::min(range.step_low, point.step);
      range.step_high = std::max(range.step_high, point.step);
      range.mb_low = std::min(range.mb_low, point.mb);
      range.mb_high = std::max(range.mb_high, point.mb);
    }
  }
  // Noise shall not fill the picture: the axis spans at least a twentieth of the level.
  const double least = 0.05 * range.mb_high;
  if (range.mb_high - range.mb_low < least) range.mb_low = range.mb_high - least;
  return range;
}

// Draws one run; returns the row, from the top, in which it ends.
size_t draw(const Verdict& verdict, const Range& range, Layer layer, Canvas& canvas) {
  const Scale across = {range.step_low, range.step_high, canvas.dots_wide()};
  const Scale up = {range.mb_low, range.mb_high, canvas.dots_high()};
  const PlotPoint* before = nullptr;
  for (const PlotPoint& point : verdict.plot) {
    if (!drawable(point)) continue;
    const PlotPoint& from = before == nullptr ? point : *before;
    canvas.line(across.dot_of(from.step), up.dot_of(from.mb), across.dot_of(point.step),
                up.dot_of(point.mb), layer);
    before = &point;
  }
  if (before == nullptr) return 0;
  const auto y = static_cast<size_t>(std::max<int64_t>(up.dot_of(before->mb), 0));
  return kRows - 1 - std::min(kRows - 1, y / (canvas.dots_high() / kRows));
}

}  // namespace

std::string render_comparison_plot(const Comparison& comparison, const View& view) {
  const size_t sides = std::min(comparison.sides.size(), kMostSides);
  const Clock clock = comparison.sides.front().verdicts.front().clock;
  for (size_t i = 0; i < sides; ++i) {
    if (comparison.sides[i].verdicts.front().clock != clock) return "";
  }
  const Range range = range_of(comparison, sides);
  if (!(range.step_high > range.step_low) || !(range.mb_high > range.mb_low)) return "";

  const size_t columns = std::clamp<size_t>(view.width, 40, 120) - kGutter - 1 - kNames;
  Canvas canvas(columns, kRows, view.utf8);
  std::array<std::string, kRows> names;
  for (size_t i = 0; i < sides; ++i) {
    const ComparedSide& side = comparison.sides[i];
    names[draw(side.verdicts.front(), range, kLayers[i], canvas)] += side.name;
  }
  std::string out = "\n";
  const std::string_view wall = view.utf8 ? "│" : "|";
  for (size_t row = 0; row < kRows; ++row) {
    std::string label;
    if (row == 0) label = format_mb(range.mb_high);
    if (row + 1 == kRows) label = format_mb(range.mb_low);
    out += fmt::format("{} {}{}", pad_left(label, kGutter - 1), wall, canvas.row(row, view));
    out += names[row].empty() ? "" : " " + paint(view, Ink::bold, shorten(names[row], kNames - 1));
    out.resize(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  std::string rule;
  for (size_t i = 0; i < columns; ++i) rule += view.utf8 ? "─" : "-";
  const std::string first = moment_phrase(clock, range.step_low);
  const std::string last = moment_phrase(clock, range.step_high);
  out += fmt::format("{}{}{}\n", std::string(kGutter, ' '), view.utf8 ? "└" : "+", rule);
  out += fmt::format("{}{}{}\n", std::string(kGutter + 1, ' '), first,
                     pad_left(last, columns - std::min(columns, display_width(first))));
  return out;
}

}  // namespace plateau
