// SPDX-License-Identifier: Apache-2.0
// Lives of a job that climb alike: what they say together and none of them says alone.
//
// Question: a server climbs by 85 MB a minute, is killed at 8 GB after 90 minutes, starts again and
// does the same, four times. Each life by itself is one climb, and one climb may be a morning's
// traffic or a cache that is not full yet. Are four of them the same doubt four times?
//
// Method. A life climbs if the middle of its second third lies above that of the first, and that
// of the last above it by a good part of as much: it did not slow down. It repeats another if it
// climbs about as fast, and from about where that one did. Of three or more that repeat each other
// two things follow.
//   - It is not the load. Traffic does not begin at its low whenever a process is started: memory
//     that follows it is back within minutes of a restart, and does not take the whole life again.
//   - If memory ended them, the work of all of them counts towards the deadline (shapes.h), where
//     that is a guess. What no life of the job can hold is no cache that it will have full in the
//     next. Lives that ended otherwise say nothing of that kind: trials that are stopped by hand in
//     their first pass over the data climb alike too. And where the epoch is known nothing is
//     guessed.
//
// Worked case: four lives of 100 steps each at +8 MB a step, each OOM-killed. One life is at 0.29
// of the deadline of 350 steps and says nothing; the four are at 1.14 of it.
//
// Blind spot: a cache that would fit a larger machine, and is killed on this one again and again,
// is called a leak if nothing tells how long the epoch is.
#pragma once

#include <cstddef>
#include <vector>

#include "recording/run.h"
#include "verdict/lives.h"

namespace plateau {

inline constexpr size_t kRepeatedLives = 3;
inline constexpr size_t kKilledLives = 2;  // Of those; the last may still go on.

struct RepeatedLives {
  size_t lives = 0;   // Of the job, those before it in the same log among them.
  size_t alike = 0;   // Those that climb like the judged one, with it; 0 if fewer than three.
  size_t killed = 0;  // Of those, by memory.
  double rate = 0;    // Their middle rate, MB on the clock.
  double end_mb = 0;  // What they held at their end, in the middle.
  double longer = 1;  // The work of all of them over that of the judged one.

  // May the work of all of them be counted?
  [[nodiscard]] bool count_together() const { return killed >= kKilledLives; }
};

// `clock`: one value for each instant of the run.
RepeatedLives find_repeated(const Run& run, const Lives& lives, const std::vector<double>& clock);

}  // namespace plateau
