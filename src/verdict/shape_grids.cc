// SPDX-License-Identifier: Apache-2.0
#include "verdict/shape_grids.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/statistics.h"

namespace plateau {
namespace {

// A rise that takes longer than 0.8 of what was seen could be anything. Five floors at least show a
// wave; periods a seventh apart leave none between them, and the neighbours of the best one differ
// by what the floors can tell.
constexpr double kLongestWave = 1.6;
constexpr double kFloorsInWave = 5;
constexpr size_t kFewestForWaves = 10;
constexpr double kWaveRatio = 1.15;
constexpr double kWaveStep = 1.05;

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

// What a line and a wave of this period leave of the floors: the line is taken out of all three
// first, then the cosine out of the sine.
double wave_misfit(const Floors& floors, double period) {
  const size_t n = floors.at.size();
  const double turn = 2 * std::numbers::pi / period;
  std::array<std::array<double, kMaxFloors>, 3> left{};
  const auto without_line = [&](auto value, std::array<double, kMaxFloors>& out) {
    const Line line = fit_line(n, [&](size_t i) { return floors.at[i]; }, value);
    for (size_t i = 0; i < n; ++i) out[i] = line.residual(floors.at[i], value(i));
  };
  without_line([&](size_t i) { return floors.mb[i]; }, left[0]);
  without_line([&](size_t i) { return std::sin(turn * floors.at[i]); }, left[1]);
  without_line([&](size_t i) { return std::cos(turn * floors.at[i]); }, left[2]);
  const auto product = [&](size_t a, size_t b) {
    return std::inner_product(left[a].begin(), left[a].begin() + n, left[b].begin(), 0.0);
  };
  const double ss = product(1, 1), cc = product(2, 2), sc = product(1, 2);
  const double ys = product(0, 1), yc = product(0, 2);
  const double determinant = ss * cc - sc * sc;
  const double all = product(0, 0);
  if (determinant <= 1e-9 * ss * cc) return all;
  return all - (ys * ys * cc - 2 * ys * yc * sc + yc * yc * ss) / determinant;
}

}  // namespace

std::vector<double> wave_periods(const Floors& floors) {
  if (floors.at.size() < kFewestForWaves) return {};
  const double span = floors.at.back() - floors.at.front();
  std::vector<double> periods;
  for (double period = span * kLongestWave;
       period >= kFloorsInWave * span / static_cast<double>(floors.at.size());
       period /= kWaveRatio) {
    periods.push_back(period);
  }
  if (periods.empty()) return {};
  size_t best = 0;
  double lowest = wave_misfit(floors, periods[0]);
  for (size_t i = 1; i < periods.size(); ++i) {
    const double here = wave_misfit(floors, periods[i]);
    if (here < lowest) lowest = here, best = i;
  }
  const double shortest = periods[std::min(best + 1, periods.size() - 1)];
  const double longest = periods[best > 0 ? best - 1 : 0];
  const double fitting =
      minimise(shortest, longest, [&](double period) { return wave_misfit(floors, period); });
  return {fitting / kWaveStep, fitting, fitting * kWaveStep};
}

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
