// SPDX-License-Identifier: Apache-2.0
// Eight bits a value with a dynamic map and an absmax per block: the optimizer states of
// bitsandbytes. docs/formats/quantised.md has the map, the rounding and the step.
//
// The second moment is never negative and has the unsigned map, the first the signed one. Plain
// memory, no tensors, no threads of its own: different tensors may be stepped by different threads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plateau::train {

inline constexpr int64_t kStateBlock = 256;
// Tensors with fewer values keep their states in 32 bits.
inline constexpr int64_t kMin8BitElements = 4096;

// 256 ascending values in [-1, 1] or [0, 1]; denser near 0, seven decades deep. Each is the real
// number of the definition, rounded once.
const std::array<float, 256>& dynamic_map(bool is_signed);

struct Blockwise8 {
  std::vector<uint8_t> codes;
  std::vector<float> absmax;  // One a block of kStateBlock.
  bool is_signed = true;
};
// The same in memory of another's. The map is the caller's to know.
struct Blockwise8Span {
  Blockwise8Span(std::span<uint8_t> some_codes, std::span<float> some_absmax)
      : codes(some_codes), absmax(some_absmax) {}
  Blockwise8Span(Blockwise8& state)
      : codes(state.codes), absmax(state.absmax) {}  // NOLINT: a view.

  std::span<uint8_t> codes;
  std::span<float> absmax;
};
// The nearest value of the map to value / absmax, the lower one of two equally near. A block of
// zeros stores the code of zero. Requires: finite values; none negative if not `is_signed`.
Blockwise8 quantise_blockwise(std::span<const float> values, bool is_signed);
// Requires: `out` has as many values as `state` has codes.
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
// As in the CUDA kernel, weight decay comes after the update, and a first moment never loses its
// sign to rounding. Requires: all four have as many values; `first` by the signed map, `second` by
// the other.
void adamw_8bit_step(std::span<float> weights, std::span<const float> gradients,
                     const Blockwise8Span& first, const Blockwise8Span& second,
                     const Adam8Step& settings);

}  // namespace plateau::train
