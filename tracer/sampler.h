// SPDX-License-Identifier: Apache-2.0
// Which bytes are sampled.
//
// Every byte the program asks for is hit with the same small chance 1/T, independently of all
// others; a block is sampled if any of its bytes is hit. Instead of throwing a die per byte the
// distance to the next hit is drawn: it is exponential with mean T. So a block of s bytes is
// sampled with p = 1 - exp(-s/T), and one that was sampled stands for 1/p blocks: sums of those are
// right on average, whatever the mix of sizes and however the program times its allocations.
//
// Worked number: T = 512 KiB, s = 5 KiB: p = 0.0097, a sample stands for 103 blocks.
//
// The distance is rounded down. A block of s bytes is due if the distance is below s, and for whole
// s that is the same event before and after rounding, so nothing is lost by it.
#pragma once

#include <bit>
#include <cstdint>

namespace plateau::trace {

inline constexpr uint32_t kMinIntervalLog2 = 6;
inline constexpr uint32_t kMaxIntervalLog2 = 40;

// Marsaglia's xorshift with a multiplication; `state` must not be 0 and never becomes 0.
inline uint64_t next_random(uint64_t& state) noexcept {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545f4914f6cdd1d;
}

// Natural logarithm for 0 < x < 1, right to 1e-8, without libm: the exponent, and the series of
// the inverse hyperbolic tangent for a mantissa between the roots of 1/2 and 2.
inline double log_of_fraction(double x) noexcept {
  constexpr double kLog2 = 0.69314718055994530942;
  const auto bits = std::bit_cast<uint64_t>(x);
  int64_t exponent = static_cast<int64_t>((bits >> 52) & 0x7ff) - 1023;
  auto mantissa = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    exponent += 1;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  const double q = s * s;
  const double series = s * (2 + q * (2.0 / 3 + q * (2.0 / 5 + q * (2.0 / 7 + q * (2.0 / 9)))));
  return static_cast<double>(exponent) * kLog2 + series;
}

// Bytes to the next hit for a mean of 2^interval_log2.
inline int64_t draw_distance(uint64_t& state, uint32_t interval_log2) noexcept {
  const auto uniform = (static_cast<double>(next_random(state) >> 11) + 0.5) * 0x1p-53;
  return static_cast<int64_t>(-log_of_fraction(uniform) *
                              static_cast<double>(uint64_t{1} << interval_log2));
}

}  // namespace plateau::trace
