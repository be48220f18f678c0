// SPDX-License-Identifier: Apache-2.0
// Grids for what is nonlinear in a shape, laid so that the best value is on them.
//
// A coarse grid is the main source of false alarms: a true warm-up that falls between two grid
// points leaves a misfit which a line beside it would mend. So each grid goes through the value
// that fits best by itself, found by golden-section search with the noise taken as independent.
#pragma once

#include <vector>

#include "verdict/floor.h"

namespace plateau {

// tau grows by a quarter from one grid point to the next: coarser, and even two tau of a mixture
// fall between points.
inline constexpr double kTauRatio = 1.25;

// A geometric grid of tau in [fastest, slowest], rising.
std::vector<double> tau_grid(const Floors& floors, double fastest, double slowest);

// The clock between two neighbours of `grid` at which a hinge fits best. Requires: grid not empty.
double best_hinge(const Floors& floors, const std::vector<double>& grid);

// Periods of waves that explain the floors best beside a line: the best on a geometric grid, and
// its neighbours. Empty where the floors are too few to show one and a third of a period.
std::vector<double> wave_periods(const Floors& floors);

}  // namespace plateau
