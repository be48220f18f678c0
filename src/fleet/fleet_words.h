// SPDX-License-Identifier: Apache-2.0
// Findings in English: the one place where the terminal, the page and the alerts get their words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/findings.h"

namespace plateau::fleet {

// "shop/checkout (app)": namespace, workload, and the container if it is named otherwise.
std::string title_of(const Finding& finding);
// "64 of 64 pods, +12 MB/h each, first out of memory in 5.0 h". `member` is what they are called.
std::string what_happens(const Finding& finding, std::string_view member);
// What else is known, a sentence each: since when, which one, why it is not decided.
std::vector<std::string> what_else(const Finding& finding);
// "3 leaks in 612 workloads (10,000 series of 6.0 h)."
std::string summary_of(const FleetAnswer& answer);
// What is missing or uncertain about the whole, a sentence each.
std::vector<std::string> caveats_of(const FleetAnswer& answer);

// The memory of a series in so many characters, from its lowest to its highest; ASCII if need be.
std::string sparkline(const std::array<float, kSparkPoints>& spark, bool utf8);

}  // namespace plateau::fleet
