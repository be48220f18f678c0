// SPDX-License-Identifier: Apache-2.0
// Hashing words into one.
#pragma once

#include <cstdint>

namespace plateau::trace {

inline constexpr uint64_t kMixFactor = 0x9e3779b97f4a7c15;

// Folds `word` into `seed`. Order matters; a single changed bit changes about half of the result
// after one more call.
inline uint64_t mix(uint64_t seed, uint64_t word) noexcept {
  const uint64_t product = (seed ^ word) * kMixFactor;
  return product ^ (product >> 32);
}

}  // namespace plateau::trace
