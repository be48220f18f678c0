// SPDX-License-Identifier: Apache-2.0
// A verdict as a test: what was expected of a run, and in what it falls short.
//
// "Memory is level from step 90 on and stays within 500 MB" is the assertion a CI job wants. The
// level is the verdict's own; the spread is measured on the judged series, spikes aside, from
// `settle_by` on (from where it settled, if no step is given).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verdict/verdict.h"

namespace plateau {

struct Expectation {
  std::optional<Word> word;
  std::optional<double> settle_by;  // On the run's clock.
  std::optional<double> spread_mb;
};

// One sentence for each thing that does not hold; empty if all do.
std::vector<std::string> unmet(const Verdict& verdict, const Expectation& expected);

// Highest less lowest value of the judged series from `from` on, spikes aside; nullopt without any.
std::optional<double> spread_from(const Verdict& verdict, double from);

}  // namespace plateau
