// SPDX-License-Identifier: Apache-2.0
// Is the difference between two runs more than noise? The arithmetic behind compare.h.
//
// Memory series are autocorrelated: a thousand samples of a level that wanders hold the information
// of a few dozen. A test that counts samples finds everything significant. So nothing here counts
// samples. Five ways, each for the kind of figure it suits:
//
//   blocks   Two series on the same clock are cut into the same 6 to 16 stretches; each stretch
//            gives one difference. The mean of these has a t interval whose effective number n' is
//            reduced for lag-one correlation r, the upper end of its estimate: n' = n (1 - r) / (1
//            + r). Pairing by stretch takes out what both runs share, such as growth or a learning
//            curriculum.
//   rise     Of the same differences, last minus first: what one run grew more than the other.
//   rates    Two estimates with intervals of their own: the distances to the ends add in squares
//            (the "variance estimates recovery" of interval arithmetic).
//   ranks    Two handfuls of independent values (spike heights): the median of all pairwise
//            differences with the interval of the rank-sum test.
//   runs     Several runs a side: each run gives one number, and Welch's t is taken over runs. Only
//            this sees what differs from one start of a job to the next.
//
// All intervals of differences hold 99 %. A comparison makes about six of them, so that one in
// about twenty comparisons of equals shows any difference at all.
//
// Worked case: two flat runs, block differences 3, -1, 2, 0, 1, -2, 2, -1 MB: mean 0.5, deviation
// 1.77, r = -0.6, at most 0, n' = 8, t(7) = 3.5: 0.5 +- 2.2 MB, not significant.
//
// Blind spot: wander slower than the span compared looks like a difference of level. One run a side
// cannot tell it from one; several can.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "verdict/signal.h"
#include "verdict/verdict.h"

namespace plateau {

// Mean difference with its 99 % interval.
struct Contrast {
  double difference = 0;
  Interval range;

  [[nodiscard]] bool excludes_zero() const { return range.low > 0 || range.high < 0; }
};

// How the values of one stretch become one number.
enum class BlockValue : uint8_t { lower_quartile, maximum };

// One number per stretch of [from, to], NaN where a stretch holds no point.
std::vector<double> block_values(std::span<const TimedValue> points, double from, double to,
                                 size_t blocks, BlockValue value);

// Number of stretches for series of at least so many points; 0 if they are too few.
size_t block_count(size_t points);

// Mean of b - a over stretches that both have. Empty with fewer than six of them, or seven with a
// trend. `trend`: one of the runs is known to grow, so that a line through the differences is not
// noise; only what is left around it is.
std::optional<Contrast> contrast_blocks(std::span<const double> a, std::span<const double> b,
                                        bool trend);

// How much more b rose than a from the first to the last stretch. The rise is a sum of increments
// whose lag-one correlation counts: its error is small for noise about a level, large for a random
// walk. Empty with fewer than six stretches in common.
std::optional<Contrast> contrast_rises(std::span<const double> a, std::span<const double> b);

// The same where both have settled: from the first stretch (of a and of b) to the mean of the
// stretches since then. The noise is what is seen there, so that the climb itself is none.
// Requires: `first_pair` has two values.
std::optional<Contrast> contrast_settled_rises(std::span<const double> first_pair,
                                               std::span<const double> a,
                                               std::span<const double> b);

// b - a of two estimates with intervals at 90 %.
Contrast contrast_rates(double a, Interval a_range, double b, Interval b_range);

// Median pairwise difference b - a. Empty unless both sides have five values.
std::optional<Contrast> contrast_ranks(std::vector<double> a, std::vector<double> b);

// Ratio of two counts over the same span, with its score interval. Empty below six in all.
std::optional<Interval> count_ratio_range(size_t a, size_t b);

// Mean over runs of b minus that of a. Empty unless one side has two values; a side with one value
// borrows the other's variance.
std::optional<Contrast> contrast_runs(std::span<const double> a, std::span<const double> b);

// One stretch of training between two logged steps.
struct StepInterval {
  double at = 0;  // Step at its end.
  double seconds = 0;
  double steps = 0;
};

// Between first sights of successive steps; an interval in which either goes back is left out. With
// a clock of whole seconds, intervals are joined until they last thirty.
std::vector<StepInterval> step_intervals(const Run& run);

// Seconds per step of the middle half of the intervals in [from, to], those weighed by their steps:
// evaluations and stalls fall into the upper quarter. Unlike a median it does not stick to the
// ticks of a clock that counts whole seconds. Empty without intervals.
struct StepPace {
  double seconds = 0;
  Interval quartiles;
  size_t intervals = 0;
};
std::optional<StepPace> step_pace(std::span<const StepInterval> intervals, double from, double to);

}  // namespace plateau
