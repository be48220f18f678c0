// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace plateau::train {

float float_of_bf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16U);
}

uint16_t bf16_of_float(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16U) | 0x40U);
  const uint32_t odd = (bits >> 16U) & 1U;
  return static_cast<uint16_t>((bits + 0x7fffU + odd) >> 16U);
}

float float_of_f16(uint16_t bits) {
  const int exponent = (bits >> 10U) & 31;
  const auto fraction = static_cast<float>(bits & 1023U);
  float value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? HUGE_VALF : std::nanf("");
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000U) != 0 ? -value : value;
}

uint16_t f16_of_float(float value) {
  const auto sign = static_cast<uint16_t>((std::bit_cast<uint32_t>(value) >> 16U) & 0x8000U);
  if (std::isnan(value)) return sign | 0x7e00U;
  const float magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  // Half way between the largest half and what would come next rounds to infinity.
  if (magnitude >= 65520.0F) return sign | 0x7c00U;
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = [0.5, 1) * 2^exponent
  // The distance of two halves there; below 2^-14 it no longer shrinks.
  const int unit = std::max(exponent - 11, -24);
  // An integer up to 2048; nearbyint() rounds ties to even, and a power of two is exact.
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  // Exponents begin at 1 for the first normal numbers, whose units begin at 1024; a carry walks
  // into the exponent by itself.
  return static_cast<uint16_t>(sign + (static_cast<uint32_t>(unit + 24) << 10U) + units);
}

bool can_widen(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16;
}

void widen(std::span<const std::byte> bytes, DType dtype, std::span<float> values) {
  if (dtype == DType::f32) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    values[i] = dtype == DType::bf16 ? float_of_bf16(bits) : float_of_f16(bits);
  }
}

void narrow(std::span<const float> values, DType dtype, std::span<std::byte> bytes) {
  if (dtype == DType::f32) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t bits = dtype == DType::bf16 ? bf16_of_float(values[i]) : f16_of_float(values[i]);
    std::memcpy(bytes.data() + 2 * i, &bits, 2);
  }
}

}  // namespace plateau::train
