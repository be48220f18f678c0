// SPDX-License-Identifier: Apache-2.0
// The few facts about the normal distribution that the verdict needs.
#pragma once

#include <cmath>

namespace plateau {

// P(Z <= z).
inline double normal_cdf(double z) {
  return 0.5 * std::erfc(-z * 0.70710678118654752440);
}

// log(2 P(Z <= z)), finite for every z: a shape whose growth comes out negative is not excluded,
// only made negligible.
inline double log_twice_positive(double z) {
  return std::log(std::fmax(2 * normal_cdf(z), 1e-12));
}

inline constexpr double kZ90 = 1.6448536269514722;  // Half-width of a 90 % interval.

}  // namespace plateau
