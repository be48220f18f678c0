// SPDX-License-Identifier: Apache-2.0
// A model whose weights were trained themselves, as files: those it was read from, with new values.
//
// Same shards, names, order and types; values are rounded once, to nearest, ties to even. One
// tensor is in memory at a time beside the trained ones. Weights that stayed frozen are copied byte
// for byte, and everything else of the directory that a program needs to load the model is too.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "trainer/model/learner.h"

namespace plateau::train {

// An error if a weight is stored in a type that trained values cannot be written in: NF4, fp8.
Result<std::monostate> check_can_be_trained(const std::filesystem::path& model_directory);

// `trained` by names of the hub. `output_directory` is replaced as a whole, or left as it was.
Result<std::monostate> write_trained_model(const std::filesystem::path& model_directory,
                                           const std::vector<NamedTensor>& trained,
                                           const std::filesystem::path& output_directory);

}  // namespace plateau::train
