// SPDX-License-Identifier: Apache-2.0
// The program plateau-train, which stands beside this one because it needs LibTorch.
#pragma once

#include <span>
#include <string>

#include "command/verb.h"

namespace plateau {

// Becomes `plateau-train VERB WORDS...`; comes back only if it cannot, with the exit code.
int become_trainer(const Invocation& invocation, std::span<const std::string> words);

}  // namespace plateau
