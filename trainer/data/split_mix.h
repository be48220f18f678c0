// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every platform and in every version: an order or a picture
// that follows from a seed must not depend on a standard library.
#pragma once

#include <cstdint>
#include <limits>

namespace plateau::train {

// Sebastiano Vigna's splitmix64: a counter that is mixed. Not for secrets.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  // Each of 0..bound-1 equally often: the incomplete last round of 2^64 is drawn again.
  // Requires: bound > 0.
  uint64_t below(uint64_t bound) {
    const uint64_t last = std::numeric_limits<uint64_t>::max();
    const uint64_t limit = last - (last % bound + 1) % bound;
    uint64_t value = next();
    while (value > limit) value = next();
    return value % bound;
  }

 private:
  uint64_t state_;
};

}  // namespace plateau::train
