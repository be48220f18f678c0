// SPDX-License-Identifier: Apache-2.0
// The marks along the two axes of a plot, in the units that people read them in. Whoever draws a
// plot, as text or as a picture, takes them from here, so that both have the same marks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/plot_scene.h"

namespace plateau {

struct AxisTick {
  double at = 0;      // MB, or the run's clock.
  std::string label;  // "12.5 GB", "150".
};

// Amounts: one unit for the whole axis, as many decimals as the marks need. About `count` of them.
std::vector<AxisTick> amount_ticks(const PlotScene& scene, size_t count);

// Unit in which the clock is written along the bottom.
struct ClockUnit {
  double scale = 1;       // Of the run's clock: 60 for minutes.
  std::string_view name;  // "step", "min".
};
ClockUnit clock_unit_of(Clock clock, const PlotScene& scene);
std::vector<AxisTick> clock_ticks(const ClockUnit& unit, const PlotScene& scene, size_t count);

// What a phase did, beside its stretch of the axis: "level", "+167 MB/step".
std::string phase_label(const Verdict& verdict, const Phase& phase, const PlotScene& scene);

}  // namespace plateau
