// SPDX-License-Identifier: Apache-2.0
// Lives that climbed to their limit and ended there.
//
// Question: a container leaks, is killed at its limit every two hours and starts anew. Each life by
// itself is short, and may be a saw or a stair that two hours do not decide; but a process that was
// bounded would not meet its limit again and again.
//
// Method. A life counts that ended, was at nine tenths of its limit then, and was still climbing:
// the lowest of its last quarter lies above that of its second by a twentieth of the limit. What is
// level just below a limit (a heap that is sized by it) and is started anew by a rollout is none.
// Two are needed. Whether that is a leak or a limit below what the workload needs, the others of
// the same version tell, who have the same limit: if some of them live on, level, it is this one
// (evidence.h). If all of them die so, nothing tells, and the finding says both.
//
// Worked case: 112 MB to a limit of 523 MB in two hours, three times in the window: two deaths, at
// 205 MB an hour; 39 others stay at 120 MB.
//
// Blind spots: one death within the window; processes without a limit, or killed by their machine.
// What a death is worth, kFactorOfDeath, is set by judgement: the recorded traces were not killed.
#pragma once

#include <cstddef>

#include "fleet/life_series.h"

namespace plateau::fleet {

struct Deaths {
  size_t count = 0;
  double rate_mb_per_s = 0;  // The median of their climbs.
  double longest_s = 0;      // Of those lives.
};

inline constexpr size_t kFewestDeaths = 2;
// How much likelier each is with a leak than without, if others live on.
inline constexpr double kFactorOfDeath = 50;

// Requires: limit_mb > 0.
Deaths deaths_at_limit(const LifeSeries& series, double limit_mb);

}  // namespace plateau::fleet
