// SPDX-License-Identifier: Apache-2.0
// Eight-bit blocks: how the map is made, how the nearest of its values is found, and Adam on top.
//
// The map is a float format of its own: a code says how many decades below 1 its value is, and what
// bits are left cut that decade evenly. Signed, decade k below the top has 2^(6-k) values of either
// sign, the middles of as many equal parts of [0.1, 1] times 10^-k; unsigned it has twice as many.
// With 0 and 1 that makes 256. Worked case: the signed top decade has 64 parts of 0.9/64, so its
// largest value is 1 - 0.9/128 = 0.99296875, and the next code is 1.
//
// Finding the nearest value is the inner loop of the optimizer, twice for each weight. The 255
// midpoints are sorted, and no two of them share sign, exponent and the 7 leading bits of the
// fraction: the closest stand 0.9/128 = 0.0070 apart near 1, where 7 bits tell 0.0039 apart. So a
// table by these bits has all but the last midpoint, and one comparison decides that. No branch.
//
// Blind spot: a block that mixes magnitudes further apart than seven decades stores its small ones
// as 0.
#include "trainer/quant/blockwise8.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "trainer/quant/absmax.h"

namespace plateau::train {
namespace {

constexpr std::array<double, 7> kDecades{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1};
constexpr uint8_t kSignedZero = 127;

std::array<float, 256> make_map(bool is_signed) {
  std::array<float, 256> map{};
  size_t filled = 0;
  int parts = is_signed ? 1 : 2;
  for (const double decade : kDecades) {
    for (int i = 0; i < parts; ++i) {
      const double middle = 0.1 + 0.9 * (i + 0.5) / parts;
      map[filled++] = static_cast<float>(decade * middle);
      if (is_signed) map[filled++] = static_cast<float>(-decade * middle);
    }
    parts *= 2;
  }
  map[filled++] = 0;
  map[filled++] = 1;
  std::sort(map.begin(), map.end());
  return map;
}

// Finds the code of a number in [-1, 1]: the count of middles that it exceeds.
class NearestCode {
 public:
  explicit NearestCode(const std::array<float, 256>& map) {
    for (size_t i = 0; i + 1 < map.size(); ++i) middles_[i] = (map[i] + map[i + 1]) * 0.5F;
    middles_.back() = std::numeric_limits<float>::infinity();
    for (uint32_t bin = 0; bin < kBins; ++bin) {
      const float low = std::bit_cast<float>((bin << kDropped) + kFirstBits);
      const float high = std::bit_cast<float>(((bin + 1) << kDropped) + kFirstBits);
      start_[bin] = below(bin == 0 ? 0 : low);
      start_[kBins + bin] = below(-high);
    }
  }

  [[nodiscard]] uint8_t operator()(float value) const {
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t above = std::max(bits & 0x7FFFFFFFU, kFirstBits) - kFirstBits;
    const uint32_t bin = std::min(above >> kDropped, kBins - 1) + (bits >> 31) * kBins;
    const uint32_t code = start_[bin];
    // A bin holds one middle at most.
    return static_cast<uint8_t>(code + (value > middles_[code] ? 1U : 0U));
  }

 private:
  static constexpr uint32_t kDropped = 23 - 7;               // Bits of the fraction not looked at.
  static constexpr uint32_t kFirstBits = (127U - 23) << 23;  // 2^-23, below every middle.
  static constexpr uint32_t kBins = (23U << 7) + 1;          // Up to 1, and one that begins there.

  // How many middles are exceeded by every number above `value`.
  [[nodiscard]] uint8_t below(float value) const {
    return static_cast<uint8_t>(std::lower_bound(middles_.begin(), middles_.end(), value) -
                                middles_.begin());
  }

  std::array<float, 256> middles_{};
  std::array<uint8_t, size_t{2} * kBins> start_{};  // Numbers from 0 on, then those below.
};

const NearestCode& nearest_code(bool is_signed) {
  static const NearestCode with_sign(dynamic_map(true));
  static const NearestCode without_sign(dynamic_map(false));
  return is_signed ? with_sign : without_sign;
}

// One block: its codes and, returned, its absmax.
float store_block(std::span<const float> values, bool is_signed, std::span<uint8_t> codes) {
  const float absmax = largest_magnitude(values);
  if (absmax == 0) {
    std::fill(codes.begin(), codes.end(), is_signed ? kSignedZero : uint8_t{0});
    return 0;
  }
  const NearestCode& nearest = nearest_code(is_signed);
  const float inverse = 1 / absmax;
  // The inverse of the smallest denormals is infinite; a division is not.
  if (!std::isfinite(inverse)) {
    for (size_t i = 0; i < values.size(); ++i) codes[i] = nearest(values[i] / absmax);
  } else {
    for (size_t i = 0; i < values.size(); ++i) codes[i] = nearest(values[i] * inverse);
  }
  return absmax;
}

void load_block(std::span<const uint8_t> codes, const std::array<float, 256>& map, float absmax,
                std::span<float> out) {
  for (size_t i = 0; i < codes.size(); ++i) out[i] = map[codes[i]] * absmax;
}

// The constants of a step, in the precision of the states.
struct StepConstants {
  float beta1, beta2, size, epsilon, keep;
};

StepConstants constants_of(const Adam8Step& settings) {
  const auto step = static_cast<double>(settings.step);
  const double correction1 = 1 - std::pow(settings.beta1, step);
  const double correction2 = std::sqrt(1 - std::pow(settings.beta2, step));
  return {.beta1 = static_cast<float>(settings.beta1),
          .beta2 = static_cast<float>(settings.beta2),
          .size = static_cast<float>(settings.learning_rate * correction2 / correction1),
          .epsilon = static_cast<float>(settings.epsilon * correction2),
          .keep = static_cast<float>(1 - settings.learning_rate * settings.weight_decay)};
}

void step_block(std::span<float> weights, std::span<const float> gradients, std::span<float> first,
                std::span<float> second, const StepConstants& by) {
  for (size_t i = 0; i < weights.size(); ++i) {
    const float gradient = gradients[i];
    if (!std::isfinite(gradient)) {
      first[i] = second[i] = 0;
      continue;
    }
    first[i] = first[i] * by.beta1 + (1 - by.beta1) * gradient;
    second[i] = second[i] * by.beta2 + (1 - by.beta2) * gradient * gradient;
    const float moved = weights[i] - by.size * (first[i] / (std::sqrt(second[i]) + by.epsilon));
    weights[i] = moved * by.keep;
  }
}

// A small negative moment that rounds to 0 would pull the weight no more; the code below 0 keeps
// its sign. Codes from 128 on are positive, and a positive moment never gets one below 127.
void keep_signs(std::span<const float> moments, std::span<uint8_t> codes) {
  for (size_t i = 0; i < moments.size(); ++i) {
    if (moments[i] < 0 && codes[i] == kSignedZero) codes[i] = kSignedZero - 1;
  }
}

}  // namespace

const std::array<float, 256>& dynamic_map(bool is_signed) {
  static const std::array<float, 256> with_sign = make_map(true);
  static const std::array<float, 256> without_sign = make_map(false);
  return is_signed ? with_sign : without_sign;
}

Blockwise8 quantise_blockwise(std::span<const float> values, bool is_signed) {
  Blockwise8 state;
  state.is_signed = is_signed;
  state.codes.resize(values.size());
  constexpr size_t kBlock = kStateBlock;
  state.absmax.reserve((values.size() + kBlock - 1) / kBlock);
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const size_t size = std::min(kBlock, values.size() - begin);
    state.absmax.push_back(store_block(values.subspan(begin, size), is_signed,
                                       std::span(state.codes).subspan(begin, size)));
  }
  return state;
}

void dequantise_blockwise(const Blockwise8& state, std::span<float> out) {
  const std::array<float, 256>& map = dynamic_map(state.is_signed);
  constexpr size_t kBlock = kStateBlock;
  for (size_t begin = 0; begin < out.size(); begin += kBlock) {
    const size_t size = std::min(kBlock, out.size() - begin);
    load_block(std::span(state.codes).subspan(begin, size), map, state.absmax[begin / kBlock],
               out.subspan(begin, size));
  }
}

void adamw_8bit_step(std::span<float> weights, std::span<const float> gradients,
                     const Blockwise8Span& first, const Blockwise8Span& second,
                     const Adam8Step& settings) {
  const StepConstants by = constants_of(settings);
  std::array<float, kStateBlock> first_values{};
  std::array<float, kStateBlock> second_values{};
  constexpr size_t kBlock = kStateBlock;
  for (size_t begin = 0; begin < weights.size(); begin += kBlock) {
    const size_t size = std::min(kBlock, weights.size() - begin);
    const size_t block = begin / kBlock;
    const auto first_codes = first.codes.subspan(begin, size);
    const auto second_codes = second.codes.subspan(begin, size);
    const auto m = std::span(first_values).first(size);
    const auto v = std::span(second_values).first(size);
    load_block(first_codes, dynamic_map(true), first.absmax[block], m);
    load_block(second_codes, dynamic_map(false), second.absmax[block], v);
    step_block(weights.subspan(begin, size), gradients.subspan(begin, size), m, v, by);
    first.absmax[block] = store_block(m, true, first_codes);
    keep_signs(m, first_codes);
    second.absmax[block] = store_block(v, false, second_codes);
  }
}

}  // namespace plateau::train
