// SPDX-License-Identifier: Apache-2.0
// Sixteen-bit floats to 32 bits and back, over plain memory at any alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trainer/store/safetensors.h"

namespace plateau::train {

float float_of_bf16(uint16_t bits);
uint16_t bf16_of_float(float value);  // To nearest, ties to even; NaN stays NaN.
float float_of_f16(uint16_t bits);
uint16_t f16_of_float(float value);  // The same; too large becomes infinity.

bool can_widen(DType dtype);  // F32, BF16, F16.
// Requires: `bytes` holds values.size() values of `dtype`, which is F32, BF16 or F16.
void widen(std::span<const std::byte> bytes, DType dtype, std::span<float> values);
void narrow(std::span<const float> values, DType dtype, std::span<std::byte> bytes);

}  // namespace plateau::train
