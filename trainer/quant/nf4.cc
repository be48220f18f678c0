// SPDX-License-Identifier: Apache-2.0
// Sixteen values for a weight, chosen so that normally distributed weights use them equally often.
//
// A block of 64 is divided by its largest magnitude and each weight becomes the index of the
// nearest value. Nearest is decided by 15 midpoints, counted rather than searched: how many of them
// a number exceeds is its index, without a branch, and a number on a midpoint has not exceeded it,
// so that ties go to the lower index. Worked case: absmax 2, weight 0.5: 0.25 lies between 0.2461
// (index 10) and 0.3379 (index 11), midpoint 0.2920, so index 10, which comes back as 0.4922.
//
// Coming back is the inner loop of every frozen layer. A byte is two weights; a table of 256 pairs
// gives both with one load, and one multiplication each by the block's scale ends it. The table
// holds unscaled values, so that it stays in the nearest cache for all blocks, and a product is the
// same to the bit as that of the format's definition.
//
// Blind spot: one large weight in a block coarsens the other 63; the format has no answer to that.
#include "trainer/quant/nf4.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "trainer/quant/absmax.h"
#include "trainer/quant/blockwise8.h"

namespace plateau::train {

const std::array<float, 16> kNf4Values{
    -1.0F,
    -0.6961928009986877F,
    -0.5250730514526367F,
    -0.39491748809814453F,
    -0.28444138169288635F,
    -0.18477343022823334F,
    -0.09105003625154495F,
    0.0F,
    0.07958029955625534F,
    0.16093020141124725F,
    0.24611230194568634F,
    0.33791524171829224F,
    0.44070982933044434F,
    0.5626170039176941F,
    0.7229568362236023F,
    1.0F,
};

namespace {

constexpr uint8_t kZeroIndex = 7;
constexpr size_t kBlock = kNf4Block;

struct Pair {
  float high, low;  // The first weight is in the high nibble.
};

std::array<Pair, 256> make_pairs() {
  std::array<Pair, 256> pairs{};
  for (size_t byte = 0; byte < pairs.size(); ++byte) {
    pairs[byte] = {.high = kNf4Values[byte >> 4], .low = kNf4Values[byte & 15]};
  }
  return pairs;
}

const std::array<Pair, 256>& pairs_of_bytes() {
  static const std::array<Pair, 256> pairs = make_pairs();
  return pairs;
}

std::array<float, 15> make_middles() {
  std::array<float, 15> middles{};
  for (size_t i = 0; i < middles.size(); ++i) {
    middles[i] = (kNf4Values[i] + kNf4Values[i + 1]) * 0.5F;
  }
  return middles;
}

// The indices of one block, one a byte; returns its absmax.
float index_block(std::span<const float> weights, std::array<uint8_t, kBlock>& indices) {
  static const std::array<float, 15> middles = make_middles();
  const float absmax = largest_magnitude(weights);
  indices.fill(kZeroIndex);
  if (absmax == 0) return 0;
  const float inverse = 1 / absmax;
  // The inverse of the smallest denormals is infinite; a division is not.
  const bool tiny = !std::isfinite(inverse);
  std::array<float, kBlock> scaled{};
  for (size_t i = 0; i < weights.size(); ++i) {
    scaled[i] = tiny ? weights[i] / absmax : weights[i] * inverse;
  }
  std::array<uint32_t, kBlock> exceeded{};
  for (const float middle : middles) {
    for (size_t i = 0; i < kBlock; ++i) exceeded[i] += scaled[i] > middle ? 1U : 0U;
  }
  for (size_t i = 0; i < weights.size(); ++i) indices[i] = static_cast<uint8_t>(exceeded[i]);
  return absmax;
}

// Stores the scales in 8 bits around their mean.
void nest_scales(Nf4Weight& weight) {
  static_assert(kNestedBlock == kStateBlock);
  const double sum = std::accumulate(weight.absmax.begin(), weight.absmax.end(), 0.0);
  const auto blocks = static_cast<double>(weight.absmax.size());
  weight.nested_offset = blocks > 0 ? static_cast<float>(sum / blocks) : 0;
  for (float& absmax : weight.absmax) absmax -= weight.nested_offset;
  Blockwise8 nested = quantise_blockwise(weight.absmax, true);
  weight.nested_codes = std::move(nested.codes);
  weight.nested_absmax = std::move(nested.absmax);
  weight.absmax.clear();
  weight.absmax.shrink_to_fit();
}

int64_t product(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// Weights [begin, end) of one block.
void load_part(const Nf4Weight& weight, int64_t begin, int64_t end, float* out) {
  const float scale = nf4_scale(weight, begin / kNf4Block);
  for (int64_t i = begin; i < end; ++i) {
    const uint8_t byte = weight.packed[static_cast<size_t>(i / 2)];
    *out++ = kNf4Values[i % 2 == 0 ? byte >> 4 : byte & 15] * scale;
  }
}

void load_whole_block(const uint8_t* packed, float scale, const Pair* pairs, float* out) {
  for (size_t i = 0; i < kBlock / 2; ++i) {
    const Pair pair = pairs[packed[i]];
    out[2 * i] = pair.high * scale;
    out[2 * i + 1] = pair.low * scale;
  }
}

void load_range(const Nf4Weight& weight, int64_t begin, int64_t end, float* out) {
  const Pair* pairs = pairs_of_bytes().data();
  while (begin < end) {
    const int64_t block = begin / kNf4Block;
    const int64_t stop = std::min(end, (block + 1) * kNf4Block);
    if (stop - begin == kNf4Block) {
      load_whole_block(weight.packed.data() + begin / 2, nf4_scale(weight, block), pairs, out);
    } else {
      load_part(weight, begin, stop, out);
    }
    out += stop - begin;
    begin = stop;
  }
}

// As Python writes a float: the shortest digits that read back, a point or an exponent always.
std::string python_float(double value) {
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string digits(text.data(), end.ptr);
  if (plain && digits.find('.') == std::string::npos) digits += ".0";
  return digits;
}

}  // namespace

int64_t Nf4Weight::elements() const {
  return product(shape);
}

int64_t Nf4Weight::bytes() const {
  const size_t floats = absmax.size() + nested_absmax.size() + nested_map.size() + 1;
  return static_cast<int64_t>(packed.size() + nested_codes.size() + floats * sizeof(float));
}

Nf4Weight quantise_nf4(std::span<const float> weights, std::vector<int64_t> shape,
                       bool double_quant) {
  Nf4Weight result;
  result.shape = std::move(shape);
  result.packed.resize((weights.size() + 1) / 2);
  result.absmax.reserve((weights.size() + kBlock - 1) / kBlock);
  std::array<uint8_t, kBlock> indices{};
  for (size_t begin = 0; begin < weights.size(); begin += kBlock) {
    const size_t size = std::min(kBlock, weights.size() - begin);
    result.absmax.push_back(index_block(weights.subspan(begin, size), indices));
    // Past an odd end stands the index of 0, which index_block() fills in.
    for (size_t i = 0; i < size; i += 2) {
      result.packed[(begin + i) / 2] = static_cast<uint8_t>(indices[i] << 4 | indices[i + 1]);
    }
  }
  if (double_quant) nest_scales(result);
  return result;
}

float nf4_scale(const Nf4Weight& weight, int64_t block) {
  const auto at = static_cast<size_t>(block);
  if (!weight.nested()) return weight.absmax[at];
  const float* map =
      weight.nested_map.empty() ? dynamic_map(true).data() : weight.nested_map.data();
  return map[weight.nested_codes[at]] * weight.nested_absmax[at / kNestedBlock] +
         weight.nested_offset;
}

void dequantise_nf4(const Nf4Weight& weight, std::span<float> out) {
  load_range(weight, 0, weight.elements(), out.data());
}

void dequantise_nf4_rows(const Nf4Weight& weight, int64_t first, int64_t last,
                         std::span<float> out) {
  const int64_t row = product(std::span(weight.shape).subspan(1));
  load_range(weight, first * row, last * row, out.data());
}

std::string nf4_state_json(const Nf4Weight& weight, std::string_view dtype) {
  std::string json = R"({"quant_type": "nf4", "blocksize": )" + std::to_string(kNf4Block);
  json += R"(, "dtype": ")" + std::string(dtype) + R"(", "shape": [)";
  for (size_t i = 0; i < weight.shape.size(); ++i) {
    json += (i > 0 ? ", " : "") + std::to_string(weight.shape[i]);
  }
  json += ']';
  if (weight.nested()) {
    json += R"(, "nested_blocksize": )" + std::to_string(kNestedBlock);
    json += R"(, "nested_dtype": "float32", "nested_offset": )";
    json += python_float(static_cast<double>(weight.nested_offset));
  }
  return json + "}";
}

}  // namespace plateau::train
