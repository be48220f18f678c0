// SPDX-License-Identifier: Apache-2.0
// From a recording to the series that are judged: which pages, of which processes, on which clock.
//
// One process's RSS is the wrong number in both directions: it misses children, and summed over a
// tree it counts shared pages several times. What a tree *owns* is the sum of its anonymous pages,
// shared ones divided among their holders, plus swap. Recordings that have Pss_Anon give exactly
// that. Others are approximated, per process and in this order:
//
//   pss_anon + swap | min(anon, pss) + swap | anon + swap | pss + swap | uss | rss | memory
//
// min(anon, pss) is right at both ends: for an ordinary process anon <= pss, which also holds its
// share of files; for a forked worker pss is smaller, because anon counts inherited pages in full.
// Worked case: a parent with 400 MB and three fresh workers show anon 4 x 400 = 1600 MB from the
// start, flat, while pss grows from 400 to 1600 MB as reference counts are touched. The minimum
// follows pss.
//
// Blind spot: workers that share anonymous pages *and* map a growing file; pss then carries part
// of the file. Pss_Anon, when recorded, has no such blind spot.
#pragma once

#include <string>
#include <vector>

#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

struct TimedValue {
  double at = 0;  // On the run's clock.
  double mb = 0;
};

// One judged series: one kind of page over the whole tree.
struct Component {
  std::string name;     // "owned", "shmem", "file", "swap", "gpu", "gpu_reserved", "system"
  std::string measure;  // In words, for the report.
  bool reclaimable = false;
  bool primary = false;            // The series that decides unless another one is worse.
  std::vector<TimedValue> points;  // By rising clock, one per clock value, finite, non-negative.
};

struct Signals {
  Clock clock = Clock::samples;
  std::vector<double> clock_of_instant;  // One per instant of the run.
  std::vector<Component> components;     // The primary one first; empty if nothing was measured.
  std::vector<std::vector<TimedValue>> owned_of_process;  // Parallel to Run::processes.
  std::vector<double> evaluations;                        // Clock values of eval events, rising.
  std::vector<double> checkpoints;                        // Of checkpoint events, rising.
  std::vector<double> process_count;                      // Live processes per instant.
};

Signals extract_signals(const Run& run);

}  // namespace plateau
