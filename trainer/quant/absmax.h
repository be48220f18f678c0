// SPDX-License-Identifier: Apache-2.0
// The largest magnitude of some floats.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace plateau::train {

// Compares the bits: without its sign a float orders like an integer, and integers can be compared
// several at a time where the rules for NaN forbid it. 0 for none; NaN if there is one.
inline float largest_magnitude(std::span<const float> values) {
  int32_t largest = 0;
  for (const float value : values) {
    largest = std::max(largest, std::bit_cast<int32_t>(value) & INT32_MAX);
  }
  return std::bit_cast<float>(largest);
}

}  // namespace plateau::train
