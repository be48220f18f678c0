// SPDX-License-Identifier: Apache-2.0
// Did the fix work? Two or more runs side by side, and what of their difference is more than noise.
//
// Like is compared with like. Runs are put on one clock (steps if all have them, else seconds), on
// one measure (RSS against RSS, if one log has more), on one kind of page (the one that decides the
// baseline, unless the other run grows elsewhere), and cut where the shorter one ends. Levels are
// compared only after the warm-up of both.
//
// Growth is compared by verdicts first and by numbers second. "Removed" is claimed only if the
// other run is level over a span in which the baseline is already known to leak: a run of 40 steps
// proves nothing about growth that shows from step 60 on, and the answer is then "too short".
//
// Worked case: a leak of 168 MB a step over 400 steps against a fixed run of 400 steps, level at
// 6.1 GB: removed, peak 73 -> 6.1 GB. Against only the first 40 steps of the fixed run: the leak is
// not established at step 40 (a first pass over the data could look like it), so: too short.
//
// How differences are tested: compare_stats.h. What is significant is also large enough to care:
// at least 1 % of the level and 2 MB (growth: 2 % and 4 MB), steps 1 % slower or faster.
//
// Blind spot: with one run a side, what differs from one start of the job to the next is not known
// and can pass for an effect of the fix. Give several runs a side where it matters.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

enum class FigureKind : uint8_t {
  rate,          // Growth at the end of the span, MB per step.
  growth,        // Rise of the floor over the span, MB.
  floor,         // Floor after the warm-up, mean, MB.
  peak,          // Highest value in the span, MB.
  plateau,       // Level at which it settled, MB; only when it did.
  spike_count,   // Spikes in the span.
  spike_height,  // Their median height over the floor, MB.
  step_time,     // Seconds per step, of the middle half of the intervals.
};
inline constexpr size_t kFigureCount = 8;
// The key in JSON: "rate_mb_per_step", "growth_mb", ...
std::string_view figure_name(FigureKind kind);

struct Figure {
  double value = 0;
  // Within one run: 90 % interval of a rate, band of a plateau, quartiles of the step time. Over
  // several runs: the smallest and the largest.
  std::optional<Interval> range;
};
// Indexed by FigureKind; empty where a run does not tell.
using Figures = std::array<std::optional<Figure>, kFigureCount>;

struct Difference {
  double difference = 0;  // Candidate minus baseline.
  std::optional<double> ratio;
  std::optional<Interval> range;        // 99 %; empty if it could not be tested.
  std::optional<Interval> ratio_range;  // 99 %, for counts and step times.
  bool significant = false;             // The interval excludes "none", and the size matters.
  std::string method;                   // "blocks", "rates", "ranks", "counts", "rise", "runs".
};
using Differences = std::array<std::optional<Difference>, kFigureCount>;

enum class GrowthChange : uint8_t {
  none,       // Neither leaks, and what they grew differs by nothing that matters.
  removed,    // The baseline grew, the candidate is level.
  ends_now,   // The baseline leaks; the candidate still grows, but towards an end.
  reduced,    // Both bounded; the candidate grew less.
  slower,     // Both leak, the candidate more slowly.
  same_leak,  // Both leak, at rates that cannot be told apart.
  faster,     // Both leak, the candidate faster.
  increased,  // Both bounded; the candidate grew more.
  appeared,   // Only the candidate leaks.
  too_short,  // One leaks, but not yet where the other one ends.
  undecided,  // One side is undecided, or leaks in only some of its runs.
};
std::string_view growth_change_name(GrowthChange change);  // "removed", "too_short", ...

enum class Outcome : uint8_t { no_worse, worse, undecided };

// A side: one run, or several runs of the same thing.
struct ComparedSide {
  std::string name;               // "A", "B", ...
  std::vector<Verdict> verdicts;  // Of each run as a whole, on its own clock.
  Word word = Word::undecided;    // leak if any leaks, else undecided if any is, else the worse.
  size_t leaks = 0;               // How many of the runs leak.
};

// One side against the baseline, over the span that both have.
struct Change {
  size_t side = 1;  // Index into Comparison::sides.
  Clock clock = Clock::steps;
  std::string component;  // Which kind of page is compared.
  double from = 0;        // The span on that clock; empty (from == to) if they share none.
  double to = 0;
  double level_from = 0;  // Levels are compared from here on.
  Figures before;         // The baseline over the span, mean over its runs.
  Figures after;
  Differences differences;
  GrowthChange growth = GrowthChange::undecided;
  Outcome outcome = Outcome::undecided;
  std::optional<double> shows_at;  // If too short: where the growth of the leaking side shows.
  bool replicated = false;         // At least two runs on one side, so that runs are the noise.
  std::vector<Finding> warnings;
};

struct Comparison {
  std::vector<ComparedSide> sides;       // The baseline first.
  std::vector<Change> changes;           // One per further side, in order.
  Outcome outcome = Outcome::undecided;  // The worst: worse over undecided over no_worse.
};

// Pure and deterministic, like judge(). Each element is one side; the first is the baseline.
// Requires: at least two sides, each with at least one run.
using RunGroup = std::vector<Run>;
Comparison compare(std::span<const RunGroup> sides, const Policy& policy = {});

// The same with one run a side.
Comparison compare(std::span<const Run> runs, const Policy& policy = {});

}  // namespace plateau
