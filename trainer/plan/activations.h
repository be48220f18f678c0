// SPDX-License-Identifier: Apache-2.0
// What a layer keeps for the way back, counted as the model stores it (model/functions.h,
// model/linear.h and model/attention.h say what each piece keeps), in bytes.
#pragma once

#include <cstdint>

#include "trainer/store/model_config.h"
#include "trainer/store/model_options.h"

namespace plateau::train {

inline constexpr int64_t kPieceBytes = int64_t{16} << 20;  // Of stored weights, widened at a time.

// Of one value of an activation.
int64_t value_bytes(const ModelOptions& options);

// Of one layer, for `tokens` tokens (patches in the vision tower).
struct LayerMemory {
  int64_t input = 0;    // Kept with checkpointing: the input alone.
  int64_t kept = 0;     // Kept without it: everything the gradients need, the input included.
  int64_t working = 0;  // Besides, while the layer's gradients are made.
};

LayerMemory text_layer(const ModelConfig& config, const ModelOptions& options, int64_t tokens,
                       int64_t longest_row);
LayerMemory vision_layer(const ModelConfig& config, const ModelOptions& options, int64_t patches,
                         int64_t longest_sequence);

}  // namespace plateau::train
