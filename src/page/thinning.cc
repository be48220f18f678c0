// SPDX-License-Identifier: Apache-2.0
#include "page/thinning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace plateau {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Thinning::Thinning(std::span<const double> clock, size_t most) : order_(clock.size()) {
  std::iota(order_.begin(), order_.end(), size_t{0});
  const auto earlier = [clock](size_t a, size_t b) { return clock[a] < clock[b]; };
  if (!std::is_sorted(order_.begin(), order_.end(), earlier)) {
    std::stable_sort(order_.begin(), order_.end(), earlier);
  }
  if (order_.size() <= most) return;
  const size_t count = std::max<size_t>(1, most / 2);
  for (size_t s = 0; s < count; ++s) {
    stretches_.push_back(nth_stretch(order_.size(), count, s));
  }
}

std::vector<double> Thinning::place(std::span<const double> values) const {
  std::vector<double> placed;
  placed.reserve(rows());
  if (!thins()) {
    for (const size_t instant : order_) placed.push_back(values[instant]);
    return placed;
  }
  for (const Stretch& stretch : stretches_) {
    placed.push_back(values[order_[stretch.begin]]);
    placed.push_back(values[order_[stretch.end - 1]]);
  }
  return placed;
}

std::vector<double> Thinning::line(std::span<const double> values) const {
  if (!thins()) {
    std::vector<double> all = place(values);
    for (double& value : all) {
      if (!std::isfinite(value)) value = kNothing;
    }
    return all;
  }
  std::vector<double> drawn;
  drawn.reserve(rows());
  for (const Stretch& stretch : stretches_) {
    const auto value = [&](size_t i) { return values[order_[i]]; };
    const std::optional<Extremes> found = extremes_in(stretch, value);
    if (found) {
      drawn.push_back(value(std::min(found->lowest, found->highest)));
      drawn.push_back(value(std::max(found->lowest, found->highest)));
    } else {
      drawn.insert(drawn.end(), 2, kNothing);
    }
  }
  return drawn;
}

}  // namespace plateau
