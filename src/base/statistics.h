// SPDX-License-Identifier: Apache-2.0
// The statistics that more than one place needs: quantiles, moments, a line by least squares, the
// normal distribution and Student's t, and an opening.
//
// Everything is pure and deterministic: the order of every summation is part of the contract,
// because a verdict must not change in its last digit when code moves. Nothing here checks for NaN;
// callers leave missing values out first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace plateau {

inline constexpr double kZ90 = 1.6448536269514722;  // Half-width of a 90 % interval, in deviations,
inline constexpr double kZ99 = 2.5758293035489004;  // and of a 99 % interval.

// P(Z <= z) of the normal distribution.
inline double normal_cdf(double z) {
  return 0.5 * std::erfc(-z * 0.70710678118654752440);
}

// Half-width of a two-sided 90 % interval in standard errors, within 2 % of Student's t. Whole
// degrees of freedom; 0 counts as 1.
double student_t90(size_t freedom);

// The same for 99 %, within 2 % from two degrees of freedom on, which may be fractional; below 1
// counts as 1.
double student_t99(double freedom);

// Quantile by linear interpolation between neighbours. Requires: not empty, 0 <= share <= 1.
double interpolated_quantile(std::vector<double> values, double share);

// The middle value, of an even number the upper of the two; 0 of none. Reorders `values`.
double upper_median(std::span<double> values);

struct WeightedValue {
  double value = 0;
  double weight = 0;
};

void sort_by_value(std::vector<WeightedValue>& values);

// Value below which `share` of the weight lies; 0 of none. Requires: sorted by value.
double sorted_quantile(std::span<const WeightedValue> values, double share);

// The same of values in any order.
double weighted_quantile(std::vector<WeightedValue> values, double share);

struct Moments {
  double mean = 0;
  double variance = 0;  // With n - 1; 0 of fewer than two.
};

Moments moments_of(std::span<const double> values);

// Correlation of each value with the one before it, about `mean`; 0 if the values do not vary.
double lag_one(std::span<const double> values, double mean);

// A line through points by ordinary least squares, with the sums about the means it is made from.
struct Line {
  size_t count = 0;
  double mean_x = 0;
  double mean_y = 0;
  double sxx = 0;
  double sxy = 0;
  double syy = 0;
  double slope = 0;  // 0 if all x are equal.

  [[nodiscard]] double residual(double x, double y) const {
    return y - mean_y - slope * (x - mean_x);
  }
  // Sum of squared residuals, from the sums alone: it cancels where the line fits well.
  [[nodiscard]] double squares_left() const { return sxx > 0 ? syy - sxy * sxy / sxx : syy; }
};

// `x` and `y` give the coordinates of point 0 .. count - 1; each is called twice a point.
template <typename X, typename Y>
Line fit_line(size_t count, X x, Y y) {
  Line line;
  line.count = count;
  const auto n = static_cast<double>(count);
  for (size_t i = 0; i < count; ++i) line.mean_x += x(i) / n, line.mean_y += y(i) / n;
  for (size_t i = 0; i < count; ++i) {
    const double dx = x(i) - line.mean_x;
    const double dy = y(i) - line.mean_y;
    line.sxx += dx * dx, line.sxy += dx * dy, line.syy += dy * dy;
  }
  line.slope = line.sxx > 0 ? line.sxy / line.sxx : 0;
  return line;
}

// How far the line's slope may be off: its standard error, from the residuals in the order of the
// points, widened for what neighbouring residuals have in common (a lag-one correlation between 0
// and 0.95). Requires: count > 2, sxx > 0.
double slope_error(const Line& line, std::span<const double> residuals);

// What is held at a place, apart from what passes through (a morphological opening): of the windows
// of `window` neighbours that contain it, the highest of their lowest values. A spike shorter than
// the window vanishes; a climb that ends there does not. Fewer points than `window` are one window.
// Requires: place < count, window > 0.
template <typename Value>
double opened_at(size_t count, Value value, size_t place, size_t window) {
  window = std::min(window, count);
  const size_t last = std::min(place, count - window);
  const auto lowest_from = [&](size_t begin) {
    double low = value(begin);
    for (size_t i = begin + 1; i < begin + window; ++i) low = std::min<double>(low, value(i));
    return low;
  };
  size_t begin = place + 1 >= window ? place + 1 - window : 0;
  double held = lowest_from(begin);
  while (++begin <= last) held = std::max(held, lowest_from(begin));
  return held;
}

}  // namespace plateau
