// SPDX-License-Identifier: Apache-2.0
// AdamW over plain memory, in 32 bits: one pass, one thread, the same bits everywhere.
//
//   m = beta1 m + (1 - beta1) g          v = beta2 v + (1 - beta2) g^2
//   w = w (1 - rate decay)               w = w - rate / c1 * m / (sqrt(v) / sqrt(c2) + epsilon)
//
// with c = 1 - beta^step: what torch.optim.AdamW does, decay first.
#pragma once

#include <span>

#include "trainer/quant/blockwise8.h"

namespace plateau::train {

// A gradient that is not finite leaves its weight as it is and zeroes its state, as in 8 bits.
// Requires: spans of one length; settings.step counts from 1.
void adamw_step(std::span<float> weights, std::span<const float> gradients, std::span<float> first,
                std::span<float> second, const Adam8Step& settings);

// The sum of squares, in double and in a fixed order.
double sum_of_squares(std::span<const float> values);

void scale_values(std::span<float> values, float factor);

}  // namespace plateau::train
