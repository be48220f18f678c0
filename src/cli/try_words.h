// SPDX-License-Identifier: Apache-2.0
// What an experiment proves, in sentences, and what it leaves open.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "inject/experiment.h"
#include "inject/growth_look.h"

namespace plateau {

// How the process grew before and after the experiment; nothing if nobody looked.
struct GrowthAround {
  std::optional<GrowthLook> before, after;

  // It grew before and goes on. What rises only afterwards may be used anew.
  [[nodiscard]] bool goes_on() const { return before && before->grows && after && after->grows; }
};

// What the figures prove, and whether the rest grows: that something came back never means that
// nothing leaks.
std::string conclusion(pid_t pid, const ExperimentOutcome& outcome, const GrowthAround& growth);

}  // namespace plateau
