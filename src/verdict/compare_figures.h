// SPDX-License-Identifier: Apache-2.0
// The figures of one run over the span compared, and their differences between two sides.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "verdict/compare.h"
#include "verdict/compare_stats.h"
#include "verdict/signal.h"

namespace plateau {

// One run, cut to the span, as the comparison needs it.
struct MeasuredRun {
  Verdict verdict;                  // Of the cut run, on the common clock and component.
  std::vector<TimedValue> points;   // The component within the span.
  std::vector<TimedValue> opened;   // The same without spikes.
  std::vector<double> heights;      // Of its spikes, in order.
  std::vector<StepInterval> paces;  // Only on a clock of steps.
};

struct Span {
  double from = 0;
  double to = 0;
  double level_from = 0;    // Where the warm-up of all runs has ended.
  size_t blocks = 0;        // Stretches into which the span is cut; 0: too few samples.
  size_t level_blocks = 0;  // The same for what follows the warm-up.
};

// Everything but the figures. `run` is already cut; nothing before `from` is taken.
MeasuredRun measure(const Run& run, std::string_view component, double from, const Policy& policy);

// Divides [from, to]. The warm-up ends where the last run settled, in the middle of the span if one
// has not; at least a quarter of the span is left. The run with the fewest samples sets the number
// of stretches.
Span divide_span(std::span<const MeasuredRun> before, std::span<const MeasuredRun> after,
                 double from, double to);

// The figures of one side: of its run, or the means over its runs.
Figures figures_of(std::span<const MeasuredRun> runs, const Span& span);

// What the figures of both sides differ by. `levels`: levels may be compared at all.
Differences differ(std::span<const MeasuredRun> before, std::span<const MeasuredRun> after,
                   const Span& span, bool levels);

// The least rise over a span that counts as growth, for a run at this level.
double material_growth_mb(double level_mb);

}  // namespace plateau
