// SPDX-License-Identifier: Apache-2.0
// Weights of a model that nobody has trained: drawn, the same for the same seed everywhere.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "trainer/store/model_config.h"

namespace plateau::train {

// Writes model.safetensors in fp32, tensor by tensor. Matrices are normal with a variance of
// 1/inputs (embeddings: 1/hidden), norms are 1, biases 0.
Result<std::monostate> write_random_weights(const ModelConfig& config, uint64_t seed,
                                            const std::filesystem::path& file);

}  // namespace plateau::train
