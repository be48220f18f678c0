// SPDX-License-Identifier: Apache-2.0
// Did growth end with the first pass over the data? The one test for everybody who asks.
//
// The length of an epoch is known to a few per cent only: last batches are dropped, loaders are
// uneven, and the end of a climb is seen at the next sample; 7 % to either side covers that. The
// series of an allocation site is judged against its own size, so that its climb counts as over
// from nine tenths on (find_settled in outlook.h), and sampling smears that a little further: there
// 15 % before the epoch. For whole runs so much would take in other caches, unless new examples are
// counted (examples_seen.h): then it is 15 % before the last of them.
#pragma once

namespace plateau {

inline constexpr double kEpochTolerance = 0.07;
inline constexpr double kSiteEpochTolerance = 0.15;

// Both on the run's clock; false if the epoch is unknown, 0. `early` is the tolerance before it.
constexpr bool ended_at_epoch(double at, double epoch_steps, double early = kEpochTolerance) {
  return epoch_steps > 0 && at >= (1 - early) * epoch_steps &&
         at <= (1 + kEpochTolerance) * epoch_steps;
}

}  // namespace plateau
