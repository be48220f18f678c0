// SPDX-License-Identifier: Apache-2.0
// Makes two sides comparable: one clock, one measure, one span; and says what had to be given up.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

struct Alignment {
  Clock clock = Clock::steps;
  std::vector<Run> before;  // On that clock and measure, cut where the shortest run ends.
  std::vector<Run> after;
  double from = 0;  // The span that all runs cover; from == to if there is none.
  double to = 0;
  bool levels_comparable = true;  // False if the sides measure different things.
  std::vector<Finding> warnings;
};

// A run that is longer by less than a fiftieth of the span is not cut.
// `before_name` and `after_name` ("A", "B") are for the warnings.
Alignment align(std::span<const Run> before, std::string_view before_name,
                std::span<const Run> after, std::string_view after_name);

}  // namespace plateau
