// SPDX-License-Identifier: Apache-2.0
// Which clock does growth follow: steps, passes over the data, evaluations or checkpoints?
//
// (The essay of this file is written with its method.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

enum class GrowthClock : uint8_t { step, epoch, eval, checkpoint };
std::string_view growth_clock_name(GrowthClock clock);

struct ClockGrowth {
  GrowthClock clock = GrowthClock::step;
  size_t events = 0;
  std::optional<double> mb_per_event;
  std::optional<Interval> range;         // 90 %.
  std::optional<double> share;           // Of all growth, in stretches that hold such an event.
  std::optional<double> share_expected;  // That share if growth did not care.
  bool follows = false;                  // Explains the growth best, and better than chance.
  std::string words;                     // One sentence.
};

// One entry per clock that the run has, steps first. Of the component that decides.
std::vector<ClockGrowth> growth_by_clock(const Run& run, const Verdict& verdict);

}  // namespace plateau
