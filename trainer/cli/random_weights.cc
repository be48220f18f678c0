// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/random_weights.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "trainer/data/split_mix.h"
#include "trainer/store/safetensors.h"
#include "trainer/store/weight_names.h"

namespace plateau::train {
namespace {

// Pairs of normal values (Box-Muller): the standard library's distributions differ between
// libraries.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  float normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    spare_ = static_cast<float>(radius * std::sin(angle));
    has_spare_ = true;
    return static_cast<float>(radius * std::cos(angle));
  }

 private:
  // In (0, 1).
  double uniform() { return (static_cast<double>(random_.next() >> 11) + 0.5) * 0x1p-53; }

  SplitMix64 random_;
  float spare_ = 0;
  bool has_spare_ = false;
};

std::vector<float> values_of(const WeightShape& weight, Draw& draw) {
  int64_t count = 1;
  for (const int64_t side : weight.shape) count *= side;
  std::vector<float> values(static_cast<size_t>(count), 0.0F);
  if (weight.shape.size() == 1) {
    if (!weight.name.ends_with(".bias")) std::fill(values.begin(), values.end(), 1.0F);
    return values;
  }
  const double inputs = static_cast<double>(count) / static_cast<double>(weight.shape[0]);
  const auto deviation = static_cast<float>(1.0 / std::sqrt(inputs));
  for (float& value : values) value = draw.normal() * deviation;
  return values;
}

}  // namespace

Result<std::monostate> write_random_weights(const ModelConfig& config, uint64_t seed,
                                            const std::filesystem::path& file) {
  const std::vector<WeightShape> weights = weight_shapes(config);
  std::vector<SafetensorsWriter::Entry> entries;
  for (const WeightShape& weight : weights) {
    entries.push_back({.name = weight.name, .dtype = DType::f32, .shape = weight.shape});
  }
  Result<SafetensorsWriter> writer =
      SafetensorsWriter::create(file, std::move(entries), {{"format", "pt"}});
  if (!writer) return writer.error();
  Draw draw(seed);
  for (const WeightShape& weight : weights) {
    const std::vector<float> values = values_of(weight, draw);
    const Result<std::monostate> added =
        writer.value().add(std::as_bytes(std::span<const float>(values)));
    if (!added) return added.error();
  }
  return writer.value().finish();
}

}  // namespace plateau::train
