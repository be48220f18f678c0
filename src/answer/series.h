// SPDX-License-Identifier: Apache-2.0
// A job of several series (ranks, pods, GPUs, containers): each is judged by itself too.
//
// The sum over eight ranks is what a machine must hold, and it is what is judged; but one rank that
// leaks among seven that breathe can hide in it. So each series is judged alone, the odd one is
// named, and if one leaks while the sum is called harmless, the answer is that one's: a leak of one
// rank is a leak of the job. Processes of one tree are no series: they fork, end and share pages,
// and verdict/lives.h follows them; but the ranks that they belong to are (answer/ranks.h).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recording/run.h"
#include "verdict/hindsight.h"

namespace plateau {

// Fills in what each process of `judged` is by itself, and what that says about all. Leaves runs
// alone that are no series: a single process, processes with pids or parents, more than 256.
void judge_series(const Run& run, const Policy& policy, Judged& judged);

// A part of a run that is judged alone.
struct RankPart {
  std::string name;               // "rank 3"
  std::vector<size_t> processes;  // Indices.
};

// The run as if there were nothing but these processes: the same clock, facts and events; no heaps.
Run part_of(const Run& run, const std::vector<size_t>& processes);

// How the parts of a run turned out, one by one.
struct Tally {
  size_t series = 0;
  size_t leaks = 0;
  size_t open = 0;
  size_t level = 0;
  size_t surest = 0;  // Of those that leak, the place of the surest one.

  [[nodiscard]] bool has_odd_one() const { return leaks == 1 && open == 0 && level > 0; }
};
// Without the part at `left_out`, if one is.
Tally tally_of(std::span<const Judged> each, std::optional<size_t> left_out = {});

// What the tally says: the odd one by its name, or how many of each.
Finding finding_of(const Tally& tally, std::span<const RankPart> parts);

// If a part leaks and `all` does not say so, the answer is that part's.
void take_hidden_leak(const Tally& tally, std::span<const RankPart> parts,
                      std::vector<Judged>& each, Judged& all);

}  // namespace plateau
