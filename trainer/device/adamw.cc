// SPDX-License-Identifier: Apache-2.0
#include "trainer/device/adamw.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace plateau::train {

void adamw_step(std::span<float> weights, std::span<const float> gradients, std::span<float> first,
                std::span<float> second, const Adam8Step& settings) {
  const auto beta1 = static_cast<float>(settings.beta1);
  const auto beta2 = static_cast<float>(settings.beta2);
  // 1 - beta in double first: 1 - 0.999f is off by a part in 20,000.
  const auto rest1 = static_cast<float>(1 - settings.beta1);
  const auto rest2 = static_cast<float>(1 - settings.beta2);
  const auto step = static_cast<double>(settings.step);
  const double correction1 = 1 - std::pow(settings.beta1, step);
  const double correction2 = 1 - std::pow(settings.beta2, step);
  const auto rate = static_cast<float>(settings.learning_rate / correction1);
  const auto root = static_cast<float>(1 / std::sqrt(correction2));
  const auto epsilon = static_cast<float>(settings.epsilon);
  const auto kept = static_cast<float>(1 - settings.learning_rate * settings.weight_decay);
  for (size_t i = 0; i < weights.size(); ++i) {
    const float gradient = gradients[i];
    const bool usable = std::isfinite(gradient);
    const float m = beta1 * first[i] + rest1 * gradient;
    const float v = beta2 * second[i] + rest2 * gradient * gradient;
    const float moved = weights[i] * kept - rate * m / (std::sqrt(v) * root + epsilon);
    first[i] = usable ? m : 0.0F;
    second[i] = usable ? v : 0.0F;
    weights[i] = usable ? moved : weights[i];
  }
}

double sum_of_squares(std::span<const float> values) {
  // Eight sums side by side: a fixed order that the compiler can still do at once.
  constexpr size_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  for (; i < values.size(); ++i) sum += static_cast<double>(values[i]) * values[i];
  return sum;
}

void scale_values(std::span<float> values, float factor) {
  for (float& value : values) value *= factor;
}

}  // namespace plateau::train
