// SPDX-License-Identifier: Apache-2.0
#include "verdict/onset.h"

namespace plateau {
namespace {

constexpr double kWorthAnOnset = 0.15;  // Of all growth, below the line.

}  // namespace

std::optional<double> find_onset(const Verdict& verdict) {
  const bool grows = verdict.rate_range.low > 0 || verdict.word == Word::leak;
  if (verdict.settled || !grows) return std::nullopt;
  std::vector<PlotPoint> floor;
  for (const PlotPoint& point : verdict.plot) {
    if (!point.spike) floor.push_back(point);
  }
  if (floor.size() < 2) return std::nullopt;
  const PlotPoint& first = floor.front();
  const PlotPoint& last = floor.back();
  const double growth = last.mb - first.mb;
  const double length = last.step - first.step;
  if (!(growth > 0) || !(length > 0)) return std::nullopt;
  double deepest = kWorthAnOnset * growth;
  double onset = first.step;
  for (const PlotPoint& point : floor) {
    const double below = first.mb + growth * (point.step - first.step) / length - point.mb;
    if (below > deepest) {
      deepest = below;
      onset = point.step;
    }
  }
  return onset;
}

}  // namespace plateau
