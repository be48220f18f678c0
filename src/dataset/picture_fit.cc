// SPDX-License-Identifier: Apache-2.0
#include "dataset/picture_fit.h"

#include <algorithm>
#include <cmath>

namespace plateau {

PictureCost picture_cost(const VisionShape& vision, const PixelLimits& limits, int64_t width,
                         int64_t height) {
  if (!vision.is_resized_by_pixels) {
    const int64_t across = std::max<int64_t>(1, vision.fixed_side / vision.patch);
    return {.pixels = vision.fixed_side * vision.fixed_side,
            .patches = across * across,
            .tokens = vision.fixed_tokens};
  }
  const auto factor = static_cast<double>(vision.patch * vision.merge);
  const auto wide = static_cast<double>(width);
  const auto high = static_cast<double>(height);
  // Python's round() takes a half to the even side, as the default rounding mode does.
  double across = std::max(factor, std::nearbyint(wide / factor) * factor);
  double down = std::max(factor, std::nearbyint(high / factor) * factor);
  const auto most = static_cast<double>(limits.most);
  const auto least = static_cast<double>(limits.least);
  if (across * down > most) {
    const double shrink = std::sqrt(wide * high / most);
    across = std::max(factor, std::floor(wide / shrink / factor) * factor);
    down = std::max(factor, std::floor(high / shrink / factor) * factor);
  } else if (across * down < least) {
    const double grow = std::sqrt(least / (wide * high));
    across = std::ceil(wide * grow / factor) * factor;
    down = std::ceil(high * grow / factor) * factor;
  }
  const auto side = static_cast<double>(vision.patch);
  const double patches = (across / side) * (down / side);
  return {.pixels = static_cast<int64_t>(across * down),
          .patches = static_cast<int64_t>(patches),
          .tokens = static_cast<int64_t>(patches) / (vision.merge * vision.merge)};
}

}  // namespace plateau
