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

// A curve's value at each floor, asked for once: sums over them go round more than once.
using Values = std::array<double, kMaxFloors>;
template <typename Function>
Values values_of(const Floors& floors, Function f) {
  Values values{};
  for (size_t i = 0; i < floors.at.size(); ++i) values[i] = f(floors.at[i]);
  return values;
}

// Squares left over by the best constant plus multiple of f.
template <typename Function>
double misfit(const Floors& floors, Function f) {
  const Values value = values_of(floors, f);
  return fit_line(
             floors.at.size(), [&](size_t i) { return value[i]; },
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

// What is left of values at the floors when their line is taken out.
Values without_line(const Floors& floors, const Values& values) {
  const Line line = fit_line(
      floors.at.size(), [&](size_t i) { return floors.at[i]; },
      [&](size_t i) { return values[i]; });
  Values left{};
  for (size_t i = 0; i < floors.at.size(); ++i) left[i] = line.residual(floors.at[i], values[i]);
  return left;
}

// What a line and waves leave of the floors: the line is taken out of floors, sine and cosine
// first, then the cosine out of the sine.
class WaveMisfit {
 public:
  explicit WaveMisfit(const Floors& floors)
      : floors_(floors), data_(without_line(floors, in_order(floors.mb))) {}

  double operator()(double period) const {
    const double turn = 2 * std::numbers::pi / period;
    Values sine{}, cosine{};
    for (size_t i = 0; i < floors_.at.size(); ++i) {
      const double angle = turn * floors_.at[i];
      sine[i] = std::sin(angle), cosine[i] = std::cos(angle);
    }
    sine = without_line(floors_, sine);
    cosine = without_line(floors_, cosine);
    const double ss = product(sine, sine), cc = product(cosine, cosine), sc = product(sine, cosine);
    const double ys = product(data_, sine), yc = product(data_, cosine);
    const double determinant = ss * cc - sc * sc;
    const double all = product(data_, data_);
    if (determinant <= 1e-9 * ss * cc) return all;
    return all - (ys * ys * cc - 2 * ys * yc * sc + yc * yc * ss) / determinant;
  }

 private:
  static Values in_order(const std::vector<double>& mb) {
    Values values{};
    std::copy(mb.begin(), mb.end(), values.begin());
    return values;
  }
  [[nodiscard]] double product(const Values& a, const Values& b) const {
    const auto end = a.begin() + static_cast<std::ptrdiff_t>(floors_.at.size());
    return std::inner_product(a.begin(), end, b.begin(), 0.0);
  }

  const Floors& floors_;
  Values data_;
};

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
  const WaveMisfit misfit_at(floors);
  size_t best = 0;
  double lowest = misfit_at(periods[0]);
  for (size_t i = 1; i < periods.size(); ++i) {
    const double here = misfit_at(periods[i]);
    if (here < lowest) lowest = here, best = i;
  }
  const double shortest = periods[std::min(best + 1, periods.size() - 1)];
  const double longest = periods[best > 0 ? best - 1 : 0];
  const double fitting = minimise(shortest, longest, misfit_at);
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
  double lowest = at(grid[0]);
  for (size_t i = 1; i < grid.size(); ++i) {
    const double here = at(grid[i]);
    if (here < lowest) lowest = here, best = i;
  }
  return minimise(grid[best > 0 ? best - 1 : 0], grid[std::min(best + 1, grid.size() - 1)], at);
}

}  // namespace plateau
