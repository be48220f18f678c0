// SPDX-License-Identifier: Apache-2.0
// Four bits a weight: the NF4 format of bitsandbytes, with double quantisation, to the bit.
//
// Weights are flattened row by row into blocks of 64; a block keeps its largest magnitude (absmax)
// and for each weight the index of the nearest of 16 values; the first weight of a pair is in the
// high nibble. With double quantisation the absmax values, less their mean, are themselves stored
// in 8 bits with the signed dynamic map in blocks of 256. Plain memory, no tensors: the trainer's
// linear layer, its checkpoints and the tests use the same functions. docs/formats/quantised.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plateau::train {

inline constexpr int64_t kNf4Block = 64;
inline constexpr int64_t kNestedBlock = 256;
extern const std::array<float, 16> kNf4Values;

struct Nf4Weight {
  std::vector<int64_t> shape;
  std::vector<uint8_t> packed;        // ceil(n / 2) bytes.
  std::vector<float> absmax;          // One a block; empty if nested.
  std::vector<uint8_t> nested_codes;  // One a block; empty if not nested.
  std::vector<float> nested_absmax;   // One per 256 blocks.
  float nested_offset = 0;
  // The 256 values that the nested codes stand for, if a file has others than dynamic_map(true):
  // the map's last bits depend on the machine that made the file. Empty: dynamic_map(true).
  std::vector<float> nested_map;

  [[nodiscard]] bool nested() const { return !nested_codes.empty(); }
  [[nodiscard]] int64_t elements() const;
  [[nodiscard]] int64_t bytes() const;  // Of everything above.
};

// Requires: `weights` are finite, as many as `shape` says. A block of zeros comes back as zeros,
// with double quantisation too.
Nf4Weight quantise_nf4(std::span<const float> weights, std::vector<int64_t> shape,
                       bool double_quant);
// `out` has elements() values. Rows [first, last) of the first dimension only, if given: what a
// linear layer needs to stay within its scratch memory; a row need not begin a block.
void dequantise_nf4(const Nf4Weight& weight, std::span<float> out);
void dequantise_nf4_rows(const Nf4Weight& weight, int64_t first, int64_t last,
                         std::span<float> out);

// The scale of one block, taken out of the double quantisation if there is one.
float nf4_scale(const Nf4Weight& weight, int64_t block);

// The JSON that bitsandbytes stores as X.weight.quant_state.bitsandbytes__nf4, byte for byte as
// Python writes it: keys quant_type, blocksize, dtype, shape, nested_*. `dtype` is what the weight
// had before: "bfloat16", "float16", "float32". store/nf4_tensors.h reads it.
std::string nf4_state_json(const Nf4Weight& weight, std::string_view dtype);

}  // namespace plateau::train
