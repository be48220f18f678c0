// SPDX-License-Identifier: Apache-2.0
// Eight bits a value with a dynamic map and an absmax per block: the optimizer states of
// bitsandbytes, to the bit.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plateau::train {

inline constexpr int64_t kStateBlock = 256;
// Tensors with fewer values keep their states in 32 bits.
inline constexpr int64_t kMin8BitElements = 4096;

// 256 ascending values in [-1, 1] or [0, 1]; denser near 0, seven decades deep.
const std::array<float, 256>& dynamic_map(bool is_signed);

struct Blockwise8 {
  std::vector<uint8_t> codes;
  std::vector<float> absmax;  // One a block of kStateBlock.
  bool is_signed = true;
};
Blockwise8 quantise_blockwise(std::span<const float> values, bool is_signed);
void dequantise_blockwise(const Blockwise8& state, std::span<float> out);

struct Adam8Step {
  double learning_rate = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  int64_t step = 1;  // Counted from 1.
};
// One step over one tensor, block by block: states are read, updated and stored again, weights are
// changed in place. A gradient that is not finite leaves its weight as it is and zeroes its state.
void adamw_8bit_step(std::span<float> weights, std::span<const float> gradients, Blockwise8& first,
                     Blockwise8& second, const Adam8Step& settings);

}  // namespace plateau::train
