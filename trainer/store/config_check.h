// SPDX-License-Identifier: Apache-2.0
// Whether the sizes of a configuration can belong to one model.
#pragma once

#include <optional>
#include <string>

#include "trainer/store/model_config.h"

namespace plateau::train {

// What does not fit, as the end of a sentence that begins with the file; nothing if all fits.
// Requires: every size is positive.
std::optional<std::string> config_contradiction(const ModelConfig& config);

}  // namespace plateau::train
