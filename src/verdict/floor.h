// SPDX-License-Identifier: Apache-2.0
// The floor of a memory series, apart from the spikes and teeth that stand on it.
//
// Question: what is held, as opposed to what is passing through? Averages mix the two, so a
// validation pass that borrows 4 GB looks like growth.
//
// Method, in three steps that each leave a staircase or a straight climb unchanged:
//   1. Morphological opening over m samples: each value becomes the largest level that some window
//      of m consecutive samples containing it never falls below. A peak narrower than m vanishes,
//      a step stays where it is.
//   2. What the opening removed, where it is large, is the spike channel.
//   3. The opened series is cut into a few dozen equal stretches of the clock, and each
//      gives its minimum, placed at its first sample: teeth shorter than a stretch vanish. Where
//      four teeth or more were seen, a stretch is at least as long as a tooth, so that each holds
//      a bottom; but there are never fewer than five stretches.
//
// Worked case: 50, 50, 320, 51, 51 with m = 3 opens to 50, 50, 50, 51, 51; the spike is 270 high.
//
// At the end of a series one cannot know yet whether a high value is a spike or a step. The last
// m - 1 values are taken as they are unless they stand out like a spike; then they are left out
// until more is known (`pending`).
//
// Worked case: metrics kept until the end of each epoch of 100 steps climb from 48 to 78 MB six
// times in 600 steps. Stretches of 600 / 28 = 21 steps would see five heights of each tooth; six
// stretches of 100 see the bottoms: 48, 48, 48, 48, 48, 48.
//
// Blind spot: a sawtooth of less than four teeth, or of very uneven ones, stays in the floors. It
// is noise with memory, which the noise model of posterior.h allows for, at the price of a slower
// decision.
#pragma once

#include <cstddef>
#include <vector>

#include "verdict/signal.h"

namespace plateau {

// Most stretches a series is cut into; Policy::Tuning::floors is the number used. Fewer lose the
// place of a hinge; more let the teeth of an allocator through and cost time: docs/accuracy.md has
// what 24 and 32 would decide otherwise; 40 and 60 do worse.
inline constexpr size_t kMaxFloors = 32;

struct Spike {
  double from = 0;  // Clock of its first and last sample.
  double to = 0;
  double height_mb = 0;  // Peak over the opened level.
  double peak_mb = 0;
};

struct Floors {
  std::vector<double> at;  // Clock, rising.
  std::vector<double> mb;
  std::vector<TimedValue> opened;  // Every sample after step 1, pending ones left out.
  std::vector<Spike> spikes;
  size_t pending = 0;       // Samples at the end that may be a spike or a step.
  double level_mb = 0;      // Largest floor.
  double range_mb = 0;      // Largest minus smallest floor.
  double now = 0;           // Clock of the last sample, pending or not.
  size_t teeth = 0;         // How many.
  double teeth_mb = 0;      // Median height of the teeth within stretches, 0 if none.
  double teeth_period = 0;  // Their median distance on the clock.
};

Floors find_floors(const std::vector<TimedValue>& points, size_t stretches);

}  // namespace plateau
