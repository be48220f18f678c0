// SPDX-License-Identifier: Apache-2.0
// Where the patches of pictures stand: rotary positions, windows, frames. No tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/image/patches.h"
#include "trainer/store/model_config.h"

namespace plateau::train {

// Of all pictures of a batch, one after the other. Boundaries start with 0, end with the number of
// patches and never repeat a value.
struct VisionPlan {
  // Row and column of each patch, in the order in which the image processor stores them: blocks of
  // merge_size x merge_size patches.
  std::vector<int64_t> rows;
  std::vector<int64_t> columns;
  // The blocks in the order of the windows they belong to; the tower computes in this order.
  std::vector<int64_t> window_order;
  std::vector<int64_t> window_bounds;  // In patches, in window order.
  std::vector<int64_t> frame_bounds;   // In patches; a frame is contiguous in either order.
};

// Requires: sides of grids are positive multiples of merge_size.
VisionPlan plan_vision(const VisionConfig& config, const std::vector<Grid>& grids);

}  // namespace plateau::train
