// SPDX-License-Identifier: Apache-2.0
// A padded batch without its padding: the tokens of all rows one after the other, with what the
// model needs to know of each. No tensors.
//
// Nothing is computed for padding, so a batch of rows gives what the rows give alone, and memory
// follows the tokens, not rows x columns. Examples that share a row are kept apart just as rows
// are: each has positions of its own, sees nothing of the others, and its first token is predicted
// by none. All checks of a batch are here: what comes out of pack_batch() fits the model.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "trainer/data/loader.h"
#include "trainer/store/model_config.h"

namespace plateau::train {

struct PackedBatch {
  std::vector<int64_t> ids;
  std::vector<int64_t> places;                    // In the batch: row x columns + column.
  std::vector<int64_t> row_bounds;                // First token of each example; the last: the end.
  std::array<std::vector<int64_t>, 3> positions;  // Time, height, width.
  std::vector<int64_t> vision_tokens;             // Indices of those that stand for patches.
  std::vector<int64_t> predictors;                // Tokens whose next one is labelled,
  std::vector<int64_t> targets;                   // and that label.
};

// Errors: lengths that disagree, ids or labels out of range, pictures whose tokens are missing,
// cut or too many, patches that do not fill the grids.
Result<PackedBatch> pack_batch(const ModelConfig& config, const Batch& batch);

}  // namespace plateau::train
