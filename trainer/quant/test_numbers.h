// SPDX-License-Identifier: Apache-2.0
// For tests: numbers that testdata/quant_vectors.py makes too, and a fingerprint of bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace plateau::train {

// In [-1, 1], small ones more often; the same for the same seed on every machine.
inline std::vector<float> test_numbers(size_t count, uint64_t seed) {
  const auto next = [&seed] {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(seed >> 40) / 16777216.0;
  };
  std::vector<float> numbers;
  numbers.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto sign = static_cast<float>(next() * 2 - 1);
    const auto size = static_cast<float>(next());
    numbers.push_back(sign * size * size);
  }
  return numbers;
}

// FNV-1a, 64 bits, of the bytes of `values`.
template <typename Range>
uint64_t fingerprint(const Range& values) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte byte : std::as_bytes(std::span(values))) {
    hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace plateau::train
