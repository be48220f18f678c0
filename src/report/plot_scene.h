// SPDX-License-Identifier: Apache-2.0
// What a plot shows and over which range, decided before a dot is drawn.
#pragma once

#include <optional>
#include <vector>

#include "verdict/verdict.h"

namespace plateau {

struct PlotScene {
  double step_low = 0;
  double step_high = 1;
  double mb_low = 0;
  double mb_high = 1;
  // Broken lines that continue the series, one per explanation worth drawing.
  std::vector<std::vector<PlotPoint>> forecasts;
  std::vector<double> boundaries;  // Steps at which a pass over the data ends.
  std::optional<double> limit_mb;  // Only if it is in view.
  bool has_spikes = false;
};

// Empty if the verdict carries fewer than two finite points.
std::optional<PlotScene> plan_plot(const Verdict& verdict);

}  // namespace plateau
