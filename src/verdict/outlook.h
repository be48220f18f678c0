// SPDX-License-Identifier: Apache-2.0
// From a decision to what a user plans with: since when level, how fast it grew, where it will end,
// when a limit is reached, and when an open question will be settled.
//
// All intervals are 90 %. They come from the posterior's fits, each with its own uncertainty,
// pooled by weight; so an interval is wide when explanations disagree, not only when data is noisy.
//
// Worked case: production log at step 40, 663 / 8. Bounded fits say "fills until 83": 10.5 GB now
// plus 43 steps at 166 MB gives 17.6 GB. The unbounded twin passes 32 GB at step 170.
#pragma once

#include <optional>
#include <vector>

#include "verdict/decision.h"
#include "verdict/verdict.h"

namespace plateau {

// The first clock value from which the floor holds its final level, with that level. Empty unless
// the decision is `plateau`. An epoch's end within one sample of the place is taken as the place:
// between two samples nothing is known (epoch_end.h has the wider "did it end with the epoch?").
std::optional<Verdict::Settled> find_settled(const Decision& decision, const Timeline& timeline);

// Average climb from the first sample to the first one at or after `to`: total over distance, which
// a hinge between two samples does not bend. The interval is that of the least-squares slope,
// widened for lag-one correlation, and holds the average.
struct Slope {
  double rate = 0;
  Interval range;
};
Slope climb_until(const Floors& floors, double from, double to);

// Where bounded explanations end, pooled. Empty if they carry less than 1 % of the weight, or if
// all of them are "still filling" towards an unknown end.
std::optional<Verdict::Forecast> forecast_plateau(const Decision& decision,
                                                  const Timeline& timeline);

// The floor at the planned end, if that lies ahead and the data is enough: the median of what all
// explanations say, as in the band of look_ahead() (hindsight.h), which may not reach so far.
std::optional<double> floor_at_planned_end(const Decision& decision, const Timeline& timeline);

// Chance and time of passing `limit_mb`, spikes included. Without a known end of the run there is
// no chance of passing it before that end, only a time.
Risk assess_risk(const Decision& decision, const Timeline& timeline,
                 std::optional<double> limit_mb);

// The clock value before which an undecided series will hardly be decided; by then about half are
// (docs/accuracy.md), and promise.h has what is promised. Empty if it is decided.
std::optional<double> decides_at(const Decision& decision, const Timeline& timeline);

// Median distance between samples on the clock.
double sample_interval(const Floors& floors);

}  // namespace plateau
