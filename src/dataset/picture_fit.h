// SPDX-License-Identifier: Apache-2.0
// What a picture costs a vision-language model: its size after the preprocessor, and the patches
// and tokens that makes.
#pragma once

#include <cstdint>

#include "plan/model_shape.h"

namespace plateau {

struct PictureCost {
  int64_t pixels = 0;  // After resizing.
  int64_t patches = 0;
  int64_t tokens = 0;
};

// Qwen's rule: sides rounded to multiples of patch x merge, the area within the limits and the
// shape kept; other towers resize every picture to one size. Requires: sides from 1 to 1,000,000.
PictureCost picture_cost(const VisionShape& vision, const PixelLimits& limits, int64_t width,
                         int64_t height);

}  // namespace plateau
