// SPDX-License-Identifier: Apache-2.0
// Steps as a clock where the job names them rarely and is sampled by time.
//
// Question: a job prints "step 20", "step 40", … seven times in a minute, and was sampled 487
// times. What may those samples tell? By the steps as named they are seven points, too few for any
// curve, though the growth between two marks was seen all along.
//
// Method. The samples between two marks are put in between, by their time: a mark at 10 s and the
// next at 20 s, 20 steps further, give the sample at 15 s ten steps of them. After the last mark
// the clock goes on at the mean pace so far, at most as far as the widest gap: nobody knows when
// the next one comes; where the job has ended, none does, and what is there may be its end. What
// stands at the first position is start-up and stays there (signal.h).
//
// Marks are rare if there are fewer than kMinSamplesOfLeak of them, with which no growth could be
// accused, and kSamplesAMark or more samples for each. With more marks than that they are the
// better clock: the same moment of each step is compared.
//
// Blind spot: within one step memory rises and falls; the floors take the least of a stretch.
#pragma once

#include <vector>

#include "recording/run.h"

namespace plateau {

// Fewer samples for a mark than this and there is nothing between them that marks do not show.
inline constexpr size_t kSamplesAMark = 4;

// The clock of each instant in steps, spread where marks are rare. Requires: the run has steps.
std::vector<double> step_clock(const Run& run);

}  // namespace plateau
