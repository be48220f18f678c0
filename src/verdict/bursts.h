// SPDX-License-Identifier: Apache-2.0
// Growth that comes in bursts: how much does a quiet time say?
//
// A job that keeps something at every wave of load, every save or every odd batch stands still in
// between, and each time looks as if it were done. The shapes see floors that are level since the
// last step and grow sure of it with every further sample, though the samples of one pause are one
// piece of evidence, not many.
//
// Method. Neighbouring rises of the floors are one burst. If bursts keep coming at random, k of
// them within a time T, then the next quiet time exceeds g with probability (1 + g/T)^-k (the rate
// unknown, its prior the scale-free one). That is what the pause counts for, whatever the shapes
// say: the odds that more is to come are kMoreToCome to one at the last burst and fall by this
// factor.
//
// Worked case: 25 MB at each crest of a load that comes every 150 steps, on top of a start-up: two
// bursts by step 216, nothing until step 360: (1 + 144/216)^-2 = 0.36. Odds of 0.3 become 0.11, so
// that the all-clear is believed to 90 %: undecided. At step 516 it would be 0.05.
//
// A fall is no level. Where no process is named, growth that falls off at once was given back, or
// was that of processes that ended, and what is left begins to climb anew. So a first fall by at
// least half of a climb is a beginning: that it rises again has odds of kMoreToCome to one, which
// fall with the time since, as a share of what the climb took. From the second fall on it is a
// sawtooth, whose floors are judged.
//
// Worked case: three workers grow by 1 MB a step each from step 0 and two of them end at step 540,
// of which the log says nothing. At step 595 the sum has fallen by 1.2 GB and is level as far as
// three floors tell; (1 + 55/540)^-1 x 0.3 leaves the all-clear 79 %: undecided.
//
// Blind spot: bursts that come as regularly as a clock say more than this allows for.
#pragma once

#include <cstddef>

#include "verdict/floor.h"

namespace plateau {

struct Bursts {
  size_t count = 0;
  double until = 0;  // Clock at which the last one ended.
};

// Rises of at least `least_mb` count.
Bursts find_bursts(const Floors& floors, double least_mb);

// Probability that more is to come, by the pause since the last burst alone.
double more_to_come(const Bursts& bursts, const Floors& floors);

// Probability that what climbed by `least_mb` or more and fell, once, climbs again. 0 if none did.
double climbs_anew(const Floors& floors, double least_mb);

}  // namespace plateau
