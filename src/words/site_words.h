// SPDX-License-Identifier: Apache-2.0
// Why an allocation site, or another series of live bytes, got its word: one sentence.
#pragma once

#include <cstdint>
#include <string>

#include "verdict/site_growth.h"

namespace plateau {

// Without a full stop: "+146 MB until step 150, level since".
std::string site_words(const SiteVerdict& verdict);

// Where records were lost, which way that errs: "low", "high", "either"; "" if none were.
std::string loss_direction(uint64_t allocs, uint64_t frees);
// For the first line: "INCOMPLETE: 13 % of the blocks could not be recorded, figures are too low".
// `recorded_blocks` are those that were. Empty if none were lost.
std::string loss_words(uint64_t allocs, uint64_t frees, double recorded_blocks);

}  // namespace plateau
