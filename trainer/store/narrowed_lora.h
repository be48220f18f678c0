// SPDX-License-Identifier: Apache-2.0
// What is left of the choice of towers and kinds once targets are named: adapters on q_proj alone
// leave the vision tower out, and nobody keeps activations for it.
#pragma once

#include "trainer/store/model_options.h"

namespace plateau::train {

LoraOptions narrowed(const ModelConfig& config, LoraOptions options);

}  // namespace plateau::train
