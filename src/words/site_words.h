// SPDX-License-Identifier: Apache-2.0
// Why an allocation site, or another series of live bytes, got its word: one sentence.
#pragma once

#include <string>

#include "verdict/site_growth.h"

namespace plateau {

// Without a full stop: "+146 MB until step 150, level since".
std::string site_words(const SiteVerdict& verdict);

}  // namespace plateau
