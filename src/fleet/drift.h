// SPDX-License-Identifier: Apache-2.0
// A process that has run for days and was level begins to climb.
//
// Question: a window that begins with a process shows its warm-up, and a verdict must allow for
// growth that ends. A process that is days old, and held a level at the same hours yesterday, has
// no warm-up left. What does its climb mean then?
//
// Method. The window is cut into twelve parts, and of each the floor (its tenth percentile) is
// taken. A climb is a rise in nearly all pairs of floors (Kendall's tau at least 0.8), by at least
// a fiftieth of the level, with at least 15 % of it in the second half and at most half of it from
// one part to the next: a heap that takes one more arena between two levels, each of which creeps
// by a page, rises in all pairs too. A fall is the same with time run backwards. What is level, or
// wanders about a level, falls as often as it climbs: so the falls among the old processes of a
// fleet count how many of its climbs are chance, and where there is no other evidence the share of
// both sets what a climb is worth (evidence.h).
//
// Worked case: of recorded traces stretched over six hours (bench/fleet_scores.py: fit, calibrate,
// dev, own) 315 of 396 leaks climb, and none of 159 bounded ones after their growth ended; of whole
// ones, warm-up and all, 36 of 293 do, which is why age is asked for.
//
// Blind spots: a cache that begins to fill on its fifth day; a new load that the day before had
// not; a heap that creeps in several steps and never shrinks, whose climbs no fall counts. One such
// trace among a hundred is enough to make most of a list false. Processes whose exporter tells no
// start time are never old.
#pragma once

#include <cstdint>
#include <vector>

#include "fleet/query_answer.h"

namespace plateau::fleet {

struct Drift {
  enum class Way : int8_t { falls = -1, none = 0, climbs = 1 };
  Way way = Way::none;
  double rate_mb_per_s = 0;  // From the first floors to the last.
};

// None where a part of the window has hardly any samples.
Drift drift_of(const std::vector<Sample>& samples);

}  // namespace plateau::fleet
