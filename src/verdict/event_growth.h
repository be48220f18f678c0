// SPDX-License-Identifier: Apache-2.0
// Which clock does growth follow: steps, passes over the data, evaluations or checkpoints?
//
// Question. "It grows by 8 MB per step" and "it grows by 800 MB at each evaluation, one every 100
// steps" are the same line from afar, and different bugs.
//
// Method. The floor of the series that decides (spikes taken off, floor.h) rises a little from one
// sample to the next. A rise belongs to an event if the event falls between the two samples, or
// between the two before: what an evaluation leaves behind is seen when it is over. That cuts the
// run into stretches with an event and stretches without. Then
//
//   - growth per event is the mean rise of a stretch with it, less what the stretches without any
//     event would have brought in that time; its 90 % interval is Student's over the events;
//   - the share is that of all growth that falls into its stretches, beside the share of the clock
//     that they cover: equal shares mean that growth does not care;
//   - every clock is a model that allows growth at its own events only, by the same amount each.
//   The
//     residuals of two models, n log(SSE1 / SSE2) / 2 over n stretches, are their log odds. A clock
//     is said to be followed if it beats every other one 20 : 1, and, for events, if at least three
//     were seen and they hold half of the growth.
//
// Only the time in which memory grew is looked at: until it settled; of a leak the last two thirds,
// because the first is often warm-up. A cache that fills during the first pass follows steps.
//
// Worked number: 1,000 steps, a sample every 10, an evaluation every 100 that keeps 80 MB. Six
// evaluations lie in the last two thirds; their stretches cover 18 % of the clock and hold all of
// the growth. The model "80 MB per evaluation" leaves nothing, "0.8 MB per step" leaves 60 MB per
// stretch: evaluations are followed.
//
// Blind spot: events that always come together (an evaluation at the end of each pass) cannot be
// told apart, and it says so. Events closer than three samples leave no stretch without one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

enum class GrowthClock : uint8_t { step, epoch, eval, checkpoint };
inline constexpr size_t kGrowthClocks = 4;
std::string_view growth_clock_name(GrowthClock clock);  // "step", "epoch", "eval", "checkpoint"

// For steps, "such an event" means stretches that hold no other event.
struct ClockGrowth {
  GrowthClock clock = GrowthClock::step;
  size_t events = 0;  // In the time looked at.
  std::optional<double> mb_per_event;
  std::optional<Interval> range;         // 90 %; needs two events.
  std::optional<double> share;           // Of all growth, in stretches that hold such an event.
  std::optional<double> share_expected;  // That share if growth did not care.
  bool follows = false;                  // Explains the growth best, and better than chance.
  double between_mb_per_step = 0;        // What the clock brings where no event falls.
};

// One entry per clock that the run has, steps first. Of the component that decides. Pure.
// Requires: `verdict` is judge(run), with any policy.
std::vector<ClockGrowth> growth_by_clock(const Run& run, const Verdict& verdict);

}  // namespace plateau
