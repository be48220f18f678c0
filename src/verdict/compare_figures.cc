// SPDX-License-Identifier: Apache-2.0
#include "verdict/compare_figures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/statistics.h"
#include "verdict/decision.h"
#include "verdict/floor.h"

namespace plateau {
namespace {

// Steps that differ by less are not worth a sentence, however sure it is.
constexpr double kMaterialPace = 0.01;
// The first tenth of a run compiles, fills queues and warms caches.
constexpr double kSlowStart = 0.1;
constexpr double kShareLeft = 0.25;

size_t index_of(FigureKind kind) {
  return static_cast<size_t>(kind);
}

size_t points_from(std::span<const TimedValue> points, double from) {
  return static_cast<size_t>(std::count_if(
      points.begin(), points.end(), [from](const TimedValue& point) { return point.at >= from; }));
}

// Opened values per stretch of the whole span: first and last give the growth.
std::vector<double> span_blocks(const MeasuredRun& run, const Span& span) {
  return block_values(run.opened, span.from, span.to, span.blocks, BlockValue::lower_quartile);
}

std::vector<double> level_blocks(const MeasuredRun& run, const Span& span) {
  return block_values(run.opened, span.level_from, span.to, span.level_blocks,
                      BlockValue::lower_quartile);
}

std::vector<double> known_only(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  return values;
}

// Seconds per step, as logarithms, for each stretch.
std::vector<double> pace_blocks(const MeasuredRun& run, double from, double to, size_t blocks) {
  std::vector<double> logs;
  const double width = (to - from) / static_cast<double>(blocks);
  for (size_t i = 0; i < blocks; ++i) {
    // Each stretch takes its end, not its start, so that no interval counts twice.
    const double start = from + width * static_cast<double>(i);
    const std::optional<StepPace> pace =
        step_pace(run.paces, std::nextafter(start, HUGE_VAL), start + width);
    logs.push_back(pace ? std::log(pace->seconds) : kMissing);
  }
  return logs;
}

double pace_from(const Span& span) {
  return span.from + kSlowStart * (span.to - span.from);
}

Figures figures_of_run(const MeasuredRun& run, const Span& span) {
  Figures figures;
  const Verdict& verdict = run.verdict;
  const auto set = [&figures](FigureKind kind, double value, std::optional<Interval> range = {}) {
    figures[index_of(kind)] = Figure{value, range};
  };
  if (run.points.empty()) return figures;
  if (verdict.samples >= kMinSamples) {
    set(FigureKind::rate, verdict.current_rate_mb_per_step, verdict.current_rate_range);
  }
  const std::vector<double> course = known_only(span_blocks(run, span));
  if (!course.empty()) set(FigureKind::growth, course.back() - course.front());
  const std::vector<double> levels = known_only(level_blocks(run, span));
  if (!levels.empty()) {
    double sum = 0;
    for (const double mb : levels) sum += mb;
    set(FigureKind::floor, sum / static_cast<double>(levels.size()));
  }
  const auto highest =
      std::max_element(run.points.begin(), run.points.end(),
                       [](const TimedValue& a, const TimedValue& b) { return a.mb < b.mb; });
  set(FigureKind::peak, highest->mb);
  if (verdict.settled) set(FigureKind::plateau, verdict.settled->mb, verdict.settled->range);
  set(FigureKind::spike_count, static_cast<double>(run.heights.size()));
  if (!run.heights.empty()) set(FigureKind::spike_height, interpolated_quantile(run.heights, 0.5));
  if (const std::optional<StepPace> pace = step_pace(run.paces, pace_from(span), span.to)) {
    set(FigureKind::step_time, pace->seconds, pace->quartiles);
  }
  return figures;
}

bool grows(const MeasuredRun& run) {
  return run.verdict.word == Word::leak || run.verdict.word == Word::warming;
}

// Tests two single runs, figure by figure.
class SingleTest {
 public:
  SingleTest(const MeasuredRun& a, const MeasuredRun& b, const Span& span)
      : a_(a), b_(b), span_(span), trend_(grows(a) || grows(b)) {}

  std::optional<Contrast> operator()(FigureKind kind) const {
    switch (kind) {
      case FigureKind::rate:
        return contrast_rates(a_.verdict.current_rate_mb_per_step, a_.verdict.current_rate_range,
                              b_.verdict.current_rate_mb_per_step, b_.verdict.current_rate_range);
      case FigureKind::growth:
        return rises();
      case FigureKind::floor:
      case FigureKind::plateau:
        return contrast_blocks(level_blocks(a_, span_), level_blocks(b_, span_), trend_);
      case FigureKind::peak:
        return peaks();
      case FigureKind::spike_height:
        return contrast_ranks(a_.heights, b_.heights);
      case FigureKind::step_time:
        return paces();
      case FigureKind::spike_count:
        return std::nullopt;  // By its ratio.
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<Contrast> rises() const {
    const std::vector<double> a = span_blocks(a_, span_);
    const std::vector<double> b = span_blocks(b_, span_);
    if (a.empty() || b.empty()) return std::nullopt;
    if (!a_.verdict.settled || !b_.verdict.settled) return contrast_rises(a, b);
    return contrast_settled_rises(std::array{a.front(), b.front()}, level_blocks(a_, span_),
                                  level_blocks(b_, span_));
  }
  [[nodiscard]] std::optional<Contrast> peaks() const {
    const auto of = [&](const MeasuredRun& run) {
      return block_values(run.points, span_.from, span_.to, span_.blocks, BlockValue::maximum);
    };
    return contrast_blocks(of(a_), of(b_), trend_);
  }
  [[nodiscard]] std::optional<Contrast> paces() const {
    const size_t blocks = block_count(std::min(a_.paces.size(), b_.paces.size()));
    if (blocks == 0) return std::nullopt;
    const double from = pace_from(span_);
    return contrast_blocks(pace_blocks(a_, from, span_.to, blocks),
                           pace_blocks(b_, from, span_.to, blocks), false);
  }

  const MeasuredRun& a_;
  const MeasuredRun& b_;
  const Span& span_;
  bool trend_;
};

std::string_view method_of(FigureKind kind) {
  switch (kind) {
    case FigureKind::rate:
      return "rates";
    case FigureKind::growth:
      return "rise";
    case FigureKind::spike_count:
      return "counts";
    case FigureKind::spike_height:
      return "ranks";
    default:
      return "blocks";
  }
}

bool is_level(FigureKind kind) {
  return kind == FigureKind::floor || kind == FigureKind::peak || kind == FigureKind::plateau;
}

// The least difference worth a sentence, in the figure's own unit.
double material(FigureKind kind, double level_mb, double length) {
  const double mb = std::max(kMaterialShare * level_mb, kMaterialMb);
  switch (kind) {
    case FigureKind::rate:
      return mb / length;
    case FigureKind::growth:
      return material_growth_mb(level_mb);
    case FigureKind::spike_count:
    case FigureKind::step_time:
      return 0;  // Judged by their ratios.
    default:
      return mb;
  }
}

// One value per run; step times as logarithms.
std::vector<double> values_over_runs(std::span<const MeasuredRun> runs, const Span& span,
                                     FigureKind kind) {
  std::vector<double> values;
  for (const MeasuredRun& run : runs) {
    const std::optional<Figure> figure = figures_of_run(run, span)[index_of(kind)];
    if (!figure) continue;
    values.push_back(kind == FigureKind::step_time ? std::log(figure->value) : figure->value);
  }
  return values;
}

// Turns a tested contrast of logarithms into ratios and seconds.
void tell_pace(const Contrast& contrast, double before, Difference& difference) {
  difference.ratio = std::exp(contrast.difference);
  difference.ratio_range = Interval{std::exp(contrast.range.low), std::exp(contrast.range.high)};
  difference.range = Interval{before * (difference.ratio_range->low - 1),
                              before * (difference.ratio_range->high - 1)};
  difference.difference = before * (*difference.ratio - 1);
  difference.significant =
      contrast.excludes_zero() && std::fabs(*difference.ratio - 1) >= kMaterialPace;
}

void tell_counts(double before, double after, Difference& difference) {
  difference.ratio_range = count_ratio_range(static_cast<size_t>(std::llround(before)),
                                             static_cast<size_t>(std::llround(after)));
  difference.significant = difference.ratio_range &&
                           (difference.ratio_range->low > 1 || difference.ratio_range->high < 1);
}

}  // namespace

double material_growth_mb(double level_mb) {
  return std::max(kToleratedShare * level_mb, kToleratedMb);
}

MeasuredRun measure(const Run& run, std::string_view component, double from, const Policy& policy) {
  MeasuredRun measured;
  measured.verdict = judge_component(run, component, policy);
  const Signals signals = extract_signals(run);
  for (const Component& of : signals.components) {
    if (of.name != measured.verdict.component) continue;
    for (const TimedValue& point : of.points) {
      if (point.at >= from) measured.points.push_back(point);
    }
  }
  const Floors floors = find_floors(measured.points, kMaxFloors);
  measured.opened = floors.opened;
  for (const Spike& spike : floors.spikes) measured.heights.push_back(spike.height_mb);
  if (signals.clock == Clock::steps) measured.paces = step_intervals(run);
  return measured;
}

Span divide_span(std::span<const MeasuredRun> before, std::span<const MeasuredRun> after,
                 double from, double to) {
  Span span{.from = from, .to = to, .level_from = from};
  size_t fewest = SIZE_MAX;
  size_t fewest_level = SIZE_MAX;
  for (const auto& side : {before, after}) {
    for (const MeasuredRun& run : side) {
      const auto& settled = run.verdict.settled;
      span.level_from = std::max(span.level_from, settled ? settled->step : (from + to) / 2);
      fewest = std::min(fewest, run.opened.size());
    }
  }
  span.level_from = std::min(span.level_from, to - kShareLeft * (to - from));
  for (const auto& side : {before, after}) {
    for (const MeasuredRun& run : side) {
      fewest_level = std::min(fewest_level, points_from(run.opened, span.level_from));
    }
  }
  span.blocks = block_count(fewest);
  span.level_blocks = block_count(fewest_level);
  return span;
}

Figures figures_of(std::span<const MeasuredRun> runs, const Span& span) {
  if (runs.size() == 1) return figures_of_run(runs.front(), span);
  Figures means;
  for (size_t kind = 0; kind < kFigureCount; ++kind) {
    double sum = 0;
    size_t known = 0;
    Interval range{HUGE_VAL, -HUGE_VAL};
    for (const MeasuredRun& run : runs) {
      const std::optional<Figure> figure = figures_of_run(run, span)[kind];
      if (!figure) continue;
      sum += figure->value;
      ++known;
      range = {std::min(range.low, figure->value), std::max(range.high, figure->value)};
    }
    if (known > 0) means[kind] = Figure{sum / static_cast<double>(known), range};
  }
  return means;
}

Differences differ(std::span<const MeasuredRun> before, std::span<const MeasuredRun> after,
                   const Span& span, bool levels) {
  const Figures a = figures_of(before, span);
  const Figures b = figures_of(after, span);
  const bool single = before.size() == 1 && after.size() == 1;
  const double length = std::max(span.to - span.from, 1e-9);
  const auto& peak_a = a[index_of(FigureKind::peak)];
  const double level = peak_a ? peak_a->value : 0;
  Differences differences;
  for (size_t i = 0; i < kFigureCount; ++i) {
    if (!a[i] || !b[i]) continue;
    const auto kind = static_cast<FigureKind>(i);
    Difference difference{.difference = b[i]->value - a[i]->value};
    difference.method = single ? method_of(kind) : "runs";
    if (a[i]->value != 0) difference.ratio = b[i]->value / a[i]->value;
    std::optional<Contrast> contrast;
    if (is_level(kind) && !levels) {
      difference.method.clear();
    } else if (single) {
      contrast = SingleTest(before.front(), after.front(), span)(kind);
    } else {
      contrast =
          contrast_runs(values_over_runs(before, span, kind), values_over_runs(after, span, kind));
    }
    if (single && kind == FigureKind::spike_count) {
      tell_counts(a[i]->value, b[i]->value, difference);
    } else if (contrast && kind == FigureKind::step_time) {
      tell_pace(*contrast, a[i]->value, difference);
    } else if (contrast) {
      // The test's own estimate, where it measures the very figure.
      if (kind == FigureKind::floor || kind == FigureKind::growth) {
        difference.difference = contrast->difference;
      }
      const bool same_sign = (contrast->difference > 0) == (difference.difference > 0);
      difference.significant = contrast->excludes_zero() && same_sign &&
                               std::fabs(difference.difference) >= material(kind, level, length);
      // The stretches say whether the highest values differ, not by how much the very highest do.
      if (!single || kind != FigureKind::peak) difference.range = contrast->range;
    }
    differences[i] = difference;
  }
  return differences;
}

}  // namespace plateau
