// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/vision_plan.h"

#include <algorithm>

namespace plateau::train {
namespace {

// A frame's blocks, window by window; windows at the right and lower edge may be smaller.
void add_frame_windows(VisionPlan& plan, int64_t block_rows, int64_t block_columns, int64_t side,
                       int64_t patches_per_block, int64_t first_block) {
  for (int64_t top = 0; top < block_rows; top += side) {
    for (int64_t left = 0; left < block_columns; left += side) {
      const int64_t bottom = std::min(top + side, block_rows);
      const int64_t right = std::min(left + side, block_columns);
      for (int64_t row = top; row < bottom; ++row) {
        for (int64_t column = left; column < right; ++column) {
          plan.window_order.push_back(first_block + row * block_columns + column);
        }
      }
      plan.window_bounds.push_back(static_cast<int64_t>(plan.window_order.size()) *
                                   patches_per_block);
    }
  }
}

void add_frame_positions(VisionPlan& plan, const Grid& grid, int64_t merge) {
  for (int64_t top = 0; top < grid.height; top += merge) {
    for (int64_t left = 0; left < grid.width; left += merge) {
      for (int64_t row = top; row < top + merge; ++row) {
        for (int64_t column = left; column < left + merge; ++column) {
          plan.rows.push_back(row);
          plan.columns.push_back(column);
        }
      }
    }
  }
}

}  // namespace

VisionPlan plan_vision(const VisionConfig& config, const std::vector<Grid>& grids) {
  const int64_t merge = config.merge_size;
  const int64_t side = std::max<int64_t>(1, config.window_size / merge / config.patch_size);
  VisionPlan plan;
  plan.window_bounds.push_back(0);
  plan.frame_bounds.push_back(0);
  int64_t first_block = 0;
  for (const Grid& grid : grids) {
    const int64_t block_rows = grid.height / merge;
    const int64_t block_columns = grid.width / merge;
    for (int64_t frame = 0; frame < grid.frames; ++frame) {
      add_frame_positions(plan, grid, merge);
      add_frame_windows(plan, block_rows, block_columns, side, merge * merge, first_block);
      plan.frame_bounds.push_back(plan.frame_bounds.back() + grid.height * grid.width);
      first_block += block_rows * block_columns;
    }
  }
  return plan;
}

}  // namespace plateau::train
