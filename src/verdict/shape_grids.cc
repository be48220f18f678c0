// SPDX-License-Identifier: Apache-2.0
#include "verdict/shape_grids.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace plateau {
namespace {

// Twelve golden sections narrow an interval 300-fold.
constexpr int kSearchSteps = 12;

// Squares left over by the best constant plus multiple of f.
template <typename Function>
double misfit(const Floors& floors, Function f) {
  return fit_line(
             floors.at.size(), [&](size_t i) { return f(floors.at[i]); },
             [&](size_t i) { return floors.mb[i]; })
      .squares_left();
}

// Golden-section search for the smallest misfit between two values.
template <typename MisfitAt>
double minimise(double low, double high, MisfitAt misfit_at) {
  constexpr double kGolden = 0.6180339887498949;
  double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
  double at_a = misfit_at(a), at_b = misfit_at(b);
  for (int i = 0; i < kSearchSteps; ++i) {
    if (at_a < at_b) {
      high = b, b = a, at_b = at_a;
      a = high - kGolden * (high - low), at_a = misfit_at(a);
    } else {
      low = a, a = b, at_a = at_b;
      b = low + kGolden * (high - low), at_b = misfit_at(b);
    }
  }
  return (low + high) / 2;
}

}  // namespace

std::vector<double> tau_grid(const Floors& floors, double fastest, double slowest) {
  const double start = floors.at.front();
  const auto at_log = [&](double log_tau) {
    const double tau = std::exp(log_tau);
    return misfit(floors, [&](double t) { return std::exp(-(t - start) / tau); });
  };
  const double ratio = std::log(kTauRatio);
  double anchor = std::log(fastest);
  double lowest = at_log(anchor);
  for (double x = anchor + ratio; x <= std::log(slowest); x += ratio) {
    const double here = at_log(x);
    if (here < lowest) lowest = here, anchor = x;
  }
  anchor = minimise(anchor - ratio, std::min(anchor + ratio, std::log(slowest)), at_log);
  double tau = std::exp(anchor);
  while (tau / kTauRatio >= fastest) tau /= kTauRatio;
  std::vector<double> taus;
  for (; tau <= slowest * (1 + 1e-9); tau *= kTauRatio) taus.push_back(tau);
  return taus;
}

double best_hinge(const Floors& floors, const std::vector<double>& grid) {
  const auto at = [&](double c) {
    return misfit(floors, [c](double t) { return std::min(t, c); });
  };
  size_t best = 0;
  for (size_t i = 1; i < grid.size(); ++i) {
    if (at(grid[i]) < at(grid[best])) best = i;
  }
  return minimise(grid[best > 0 ? best - 1 : 0], grid[std::min(best + 1, grid.size() - 1)], at);
}

}  // namespace plateau
