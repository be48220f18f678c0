// SPDX-License-Identifier: Apache-2.0
// The figures of a comparison as text, one by one: for tables, and for one line against a baseline.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "report/compare.h"
#include "words/phrases.h"

namespace plateau {
namespace {

// "-250 kB/step  (-255 to -244)": the unit once where all three share it.
std::string with_range(const std::string& middle, std::string low, std::string high) {
  const std::string unit = middle.substr(std::min(middle.rfind(' '), middle.size()));
  for (std::string* end : {&low, &high}) {
    if (end->ends_with(unit)) end->resize(end->size() - unit.size());
  }
  return fmt::format("{}  ({} to {})", middle, low, high);
}

// A level that lies this share of the baseline's from it is not called the same, proven or not: it
// is what a reader of the two figures would call another.
constexpr double kNotTheSame = 0.1;

// "memory per step +3.10 MB": of a difference that matters, or how it was looked for in vain. A
// rate has no share: beside one of zero any other would be far away.
std::string delta(const Change& change, FigureKind kind, std::string_view name) {
  const std::optional<Difference>& found = change.differences[static_cast<size_t>(kind)];
  // Of unlike measures levels were not compared: nothing is said.
  if (!found || found->method.empty()) return "";
  std::string moved = fmt::format("{} {}", name, format_mb_signed(found->difference));
  if (found->significant) return moved;
  const bool apart =
      kind != FigureKind::rate && std::fabs(found->ratio.value_or(1) - 1) > kNotTheSame;
  return apart ? moved + " (perhaps by chance)" : fmt::format("{} unchanged", name);
}

}  // namespace

std::string figure_phrase(FigureKind kind, Clock clock, const std::optional<Figure>& figure) {
  if (!figure) return "-";
  const double value = figure->value;
  switch (kind) {
    case FigureKind::rate:
      return value == 0 ? "level" : rate_phrase(clock, value);
    case FigureKind::growth:
      return format_mb_signed(value);
    case FigureKind::spike_count:
      return fmt::format("{:.4g}", value);
    case FigureKind::step_time:
      return fmt::format("{:.3g} s", value);
    default:
      return format_mb(value);
  }
}

std::string difference_phrase(FigureKind kind, Clock clock, const Difference& difference) {
  if (kind == FigureKind::step_time) {
    const double percent = 100 * (difference.ratio.value_or(1) - 1);
    if (!difference.ratio_range) return fmt::format("{:+.1f} %", percent);
    return fmt::format("{:+.1f} %  ({:+.1f} to {:+.1f})", percent,
                       100 * (difference.ratio_range->low - 1),
                       100 * (difference.ratio_range->high - 1));
  }
  if (kind == FigureKind::spike_count) return fmt::format("{:+.4g}", difference.difference);
  const auto phrase = [&](double mb) {
    return kind == FigureKind::rate ? rate_phrase(clock, mb) : format_mb_signed(mb);
  };
  std::string middle = phrase(difference.difference);
  if (!difference.range) return middle;
  return with_range(middle, phrase(difference.range->low), phrase(difference.range->high));
}

std::string delta_sentence(const Change& change) {
  if (!(change.to > change.from)) return "not comparable: no span in common";
  const bool both_level = change.differences[static_cast<size_t>(FigureKind::plateau)].has_value();
  const FigureKind level = both_level ? FigureKind::plateau : FigureKind::floor;
  const std::string per = fmt::format(
      "memory per {}", change.clock == Clock::seconds ? "second" : clock_unit(change.clock));
  std::string out = delta(change, FigureKind::rate, per);
  for (const std::string& part : {delta(change, level, both_level ? "plateau" : "floor"),
                                  delta(change, FigureKind::peak, "peak")}) {
    if (!part.empty()) out += (out.empty() ? "" : ", ") + part;
  }
  return out.empty() ? "not comparable: no figure in common" : out;
}

}  // namespace plateau
