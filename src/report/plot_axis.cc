// SPDX-License-Identifier: Apache-2.0
#include "report/plot_axis.h"

#include <fmt/format.h>

#include <cmath>

#include "report/canvas.h"
#include "words/phrases.h"

namespace plateau {
namespace {

// A phase that moves by less than this share of the picture's height is seen as level.
constexpr double kSeenAsLevel = 0.03;

}  // namespace

std::vector<AxisTick> amount_ticks(const PlotScene& scene, size_t count) {
  const double peak = scene.mb_high;
  const double unit = peak >= 1e6 ? 1e6 : peak >= 1e3 ? 1e3 : 1;
  const std::string_view name = peak >= 1e6 ? "TB" : peak >= 1e3 ? "GB" : "MB";
  const std::vector<double> ticks = round_ticks(scene.mb_low / unit, scene.mb_high / unit, count);
  const double apart = ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
  int decimals = 0;
  for (double scaled = apart; decimals < 3 && std::fabs(scaled - std::round(scaled)) > 1e-6;) {
    scaled *= 10;
    ++decimals;
  }
  std::vector<AxisTick> marks;
  marks.reserve(ticks.size());
  for (const double tick : ticks) {
    marks.push_back({tick * unit, fmt::format("{:.{}f} {}", tick, decimals, name)});
  }
  return marks;
}

ClockUnit clock_unit_of(Clock clock, const PlotScene& scene) {
  if (clock == Clock::steps) return {1, "step"};
  if (clock == Clock::samples) return {1, "sample"};
  const double range = scene.step_high - scene.step_low;
  if (range >= 4 * 86400) return {86400, "days"};
  if (range >= 3 * 3600) return {3600, "h"};
  if (range >= 300) return {60, "min"};
  return {1, "s"};
}

std::vector<AxisTick> clock_ticks(const ClockUnit& unit, const PlotScene& scene, size_t count) {
  std::vector<AxisTick> marks;
  for (const double tick :
       round_ticks(scene.step_low / unit.scale, scene.step_high / unit.scale, count)) {
    marks.push_back({tick * unit.scale, fmt::format("{:.10g}", tick)});
  }
  return marks;
}

std::string phase_label(const Verdict& verdict, const Phase& phase, const PlotScene& scene) {
  const double span = scene.mb_high - scene.mb_low;
  const bool level = std::fabs(phase.to_mb - phase.from_mb) < kSeenAsLevel * span ||
                     (verdict.settled && phase.from_step >= verdict.settled->step);
  return level ? "level" : rate_phrase(verdict.clock, phase.rate_mb_per_step);
}

}  // namespace plateau
