// SPDX-License-Identifier: Apache-2.0
// What many fits say, pooled by weight, and how sure one fit is of its future.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/statistics.h"
#include "verdict/posterior.h"

namespace plateau {

// Five points that stand for a normal distribution: same 5 %, 50 % and 95 % quantiles.
inline constexpr std::array<std::array<double, 2>, 5> kFivePoints = {
    {{-1.8, 0.1}, {-0.84, 0.2}, {0.0, 0.4}, {0.84, 0.2}, {1.8, 0.1}}};

inline void add_spread(std::vector<WeightedValue>& values, double mean, double deviation,
                       double weight) {
  for (const auto& [z, share] : kFivePoints) {
    values.push_back({mean + z * deviation, weight * share});
  }
}

inline double stationary_deviation(const Fit& fit) {
  return fit.sigma / std::sqrt(std::max(1 - fit.phi * fit.phi, 0.04));
}

// Share of the heaviest fit's weight below which a fit is too light to move a quantile.
inline constexpr double kTooLight = 0.05;

// A rise to come is foretold to a tenth at best: what fills later is not quite what filled first.
inline constexpr double kUnforeseen = 0.1;

// Uncertainty of where a bounded fit ends: its noise, its rate over what is still to come, and what
// no fit foresees.
inline double end_deviation(const Fit& fit, double now) {
  const double ahead = fit.ends_at > now ? (fit.ends_at - now) * fit.rate_se : 0;
  return std::hypot(stationary_deviation(fit), ahead, kUnforeseen * fit.remaining);
}

}  // namespace plateau
