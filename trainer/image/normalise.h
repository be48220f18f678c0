// SPDX-License-Identifier: Apache-2.0
// Mean and deviation of the channels, by which Qwen2-VL's pictures are normalised.
#pragma once

#include <array>

namespace plateau::train {

inline constexpr std::array<float, 3> kPictureMean = {0.48145466F, 0.4578275F, 0.40821073F};
inline constexpr std::array<float, 3> kPictureDeviation = {0.26862954F, 0.26130258F, 0.27577711F};

}  // namespace plateau::train
