// SPDX-License-Identifier: Apache-2.0
#include "verdict/compare_stats.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace plateau {
namespace {

constexpr size_t kMostBlocks = 16;
constexpr size_t kFewestBlocks = 6;
constexpr size_t kPointsPerBlock = 2;
// Beyond this the correlation of a few block differences cannot be told from a random walk.
constexpr double kMostCorrelated = 0.95;
// Five and five, wholly apart, happen by chance once in 126 times; four and four once in 35.
constexpr size_t kFewestRanks = 5;
constexpr double kMostRanges = 3;
constexpr size_t kMostRanks = 200;
constexpr size_t kFewestCounts = 6;
// A second more or less in thirty is three per cent, and evens out over many intervals.
constexpr double kCoarseTicks = 30;

// b - a where both are known.
std::vector<double> paired_differences(std::span<const double> a, std::span<const double> b) {
  std::vector<double> differences;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i])) differences.push_back(b[i] - a[i]);
  }
  return differences;
}

// Subtracts the least-squares line through evenly spaced values; their mean stays.
void take_line_out(std::vector<double>& values) {
  const auto x = [](size_t i) { return static_cast<double>(i); };
  const Line line = fit_line(values.size(), x, [&](size_t i) { return values[i]; });
  for (size_t i = 0; i < values.size(); ++i) values[i] -= line.slope * (x(i) - line.mean_x);
}

// At most kMostRanks of the values, evenly taken.
std::vector<double> thinned(const std::vector<double>& values) {
  if (values.size() <= kMostRanks) return values;
  std::vector<double> kept;
  kept.reserve(kMostRanks);
  for (size_t i = 0; i < kMostRanks; ++i) kept.push_back(values[i * values.size() / kMostRanks]);
  return kept;
}

}  // namespace

std::vector<double> block_values(std::span<const TimedValue> points, double from, double to,
                                 size_t blocks, BlockValue value) {
  if (blocks == 0) return {};
  std::vector<std::vector<double>> held(blocks);
  const double width = (to - from) / static_cast<double>(blocks);
  for (const TimedValue& point : points) {
    if (point.at < from || point.at > to || !(width > 0)) continue;
    const auto block = static_cast<size_t>((point.at - from) / width);
    held[std::min(block, blocks - 1)].push_back(point.mb);
  }
  std::vector<double> out;
  for (std::vector<double>& of_block : held) {
    if (of_block.empty()) {
      out.push_back(kMissing);
    } else if (value == BlockValue::maximum) {
      out.push_back(*std::max_element(of_block.begin(), of_block.end()));
    } else {
      out.push_back(interpolated_quantile(std::move(of_block), 0.25));
    }
  }
  return out;
}

size_t block_count(size_t points) {
  if (points < kFewestBlocks) return 0;
  return std::clamp(points / kPointsPerBlock, kFewestBlocks, kMostBlocks);
}

std::optional<Contrast> contrast_blocks(std::span<const double> a, std::span<const double> b,
                                        bool trend) {
  std::vector<double> differences = paired_differences(a, b);
  const size_t columns = trend ? 2 : 1;
  if (differences.size() < kFewestBlocks + columns - 1) return std::nullopt;
  const auto n = static_cast<double>(differences.size());
  const double mean = moments_of(differences).mean;
  if (trend) take_line_out(differences);
  const Moments left = moments_of(differences);
  const double raw = lag_one(differences, left.mean);
  // The estimate of r from n values is low by about (1 + 4 r) / n for each column taken out, and
  // uncertain by 1 / sqrt(n); the upper end is taken, because noise that clings is the rule.
  const double bias = static_cast<double>(columns) * (1 + 4 * raw) / n;
  const double r = std::clamp(raw + bias + 1 / std::sqrt(n), 0.0, kMostCorrelated);
  const double effective = std::max(n * (1 - r) / (1 + r), 2.0);
  const double freedom = effective - static_cast<double>(columns);
  // Where little is left of n', t runs away (64 with one degree of freedom). The mean of what was
  // seen is not further off than three times the range in which it moved.
  const auto [low, high] = std::minmax_element(differences.begin(), differences.end());
  const double half = std::min(student_t99(freedom) * std::sqrt(left.variance / effective),
                               kMostRanges * (*high - *low));
  return Contrast{mean, {mean - half, mean + half}};
}

std::optional<Contrast> contrast_rises(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> differences = paired_differences(a, b);
  if (differences.size() < kFewestBlocks) return std::nullopt;
  std::vector<double> increments;
  for (size_t i = 1; i < differences.size(); ++i) {
    increments.push_back(differences[i] - differences[i - 1]);
  }
  const Moments moments = moments_of(increments);
  const double r = std::clamp(lag_one(increments, moments.mean), -0.5, 0.5);
  const auto n = static_cast<double>(increments.size());
  const double half =
      student_t99(n - 1) * std::sqrt(moments.variance * std::max(1.0, n * (1 + 2 * r)));
  const double rise = differences.back() - differences.front();
  return Contrast{rise, {rise - half, rise + half}};
}

std::optional<Contrast> contrast_settled_rises(std::span<const double> first_pair,
                                               std::span<const double> a,
                                               std::span<const double> b) {
  const std::optional<Contrast> level = contrast_blocks(a, b, false);
  if (!level || !std::isfinite(first_pair[0]) || !std::isfinite(first_pair[1])) {
    return std::nullopt;
  }
  const std::vector<double> differences = paired_differences(a, b);
  const double one = student_t99(static_cast<double>(differences.size()) - 1) *
                     std::sqrt(moments_of(differences).variance);
  const double rise = level->difference - (first_pair[1] - first_pair[0]);
  const double half = std::hypot(level->range.high - level->difference, one);
  return Contrast{rise, {rise - half, rise + half}};
}

Contrast contrast_rates(double a, Interval a_range, double b, Interval b_range) {
  const double wider = kZ99 / kZ90;
  const auto distance = [wider](double from, double to) { return wider * std::fabs(to - from); };
  const double difference = b - a;
  const double down = std::hypot(distance(b, b_range.low), distance(a, a_range.high));
  const double up = std::hypot(distance(b, b_range.high), distance(a, a_range.low));
  return {difference, {difference - down, difference + up}};
}

std::optional<Contrast> contrast_ranks(std::vector<double> a, std::vector<double> b) {
  if (a.size() < kFewestRanks || b.size() < kFewestRanks) return std::nullopt;
  a = thinned(a);
  b = thinned(b);
  std::vector<double> differences;
  for (const double of_a : a) {
    for (const double of_b : b) differences.push_back(of_b - of_a);
  }
  std::sort(differences.begin(), differences.end());
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  const double deviation = std::sqrt(n * m * (n + m + 1) / 12);
  const double lowest = std::floor(n * m / 2 - kZ99 * deviation);
  const size_t low = lowest > 0 ? static_cast<size_t>(lowest) : 0;
  return Contrast{interpolated_quantile(differences, 0.5),
                  {differences[low], differences[differences.size() - 1 - low]}};
}

std::optional<Interval> count_ratio_range(size_t a, size_t b) {
  const auto total = static_cast<double>(a + b);
  if (a + b < kFewestCounts) return std::nullopt;
  // Given the sum, b is binomial; events more regular than Poisson's only make this cautious.
  const double share = static_cast<double>(b) / total;
  const double z2 = kZ99 * kZ99;
  const double centre = (share + z2 / (2 * total)) / (1 + z2 / total);
  const double half =
      kZ99 * std::sqrt(share * (1 - share) / total + z2 / (4 * total * total)) / (1 + z2 / total);
  const auto odds = [](double p) { return p >= 1 ? 1e9 : std::max(p, 0.0) / (1 - p); };
  return Interval{odds(centre - half), odds(std::min(centre + half, 1.0))};
}

std::optional<Contrast> contrast_runs(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || (a.size() < 2 && b.size() < 2)) return std::nullopt;
  const Moments of_a = moments_of(a);
  const Moments of_b = moments_of(b);
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  double squared = 0;
  double freedom = 0;
  if (a.size() < 2 || b.size() < 2) {
    const double variance = a.size() < 2 ? of_b.variance : of_a.variance;
    squared = variance * (1 / n + 1 / m);
    freedom = std::max(n, m) - 1;
  } else {
    const double share_a = of_a.variance / n;
    const double share_b = of_b.variance / m;
    squared = share_a + share_b;
    const double below = share_a * share_a / (n - 1) + share_b * share_b / (m - 1);
    freedom = below > 0 ? squared * squared / below : n + m - 2;
  }
  const double difference = of_b.mean - of_a.mean;
  const double half = student_t99(freedom) * std::sqrt(squared);
  return Contrast{difference, {difference - half, difference + half}};
}

std::vector<StepInterval> step_intervals(const Run& run) {
  // A clock of whole seconds needs long intervals to tell a pace.
  const bool coarse =
      std::all_of(run.instants.begin(), run.instants.end(), [](const Instant& instant) {
        return !std::isfinite(instant.time_s) || instant.time_s == std::floor(instant.time_s);
      });
  const double shortest_s = coarse ? kCoarseTicks : 0;
  std::vector<StepInterval> intervals;
  const Instant* before = nullptr;
  for (const Instant& instant : run.instants) {
    if (instant.step < 0 || !std::isfinite(instant.time_s)) continue;
    if (before != nullptr && instant.step > before->step && instant.time_s >= before->time_s) {
      const double seconds = instant.time_s - before->time_s;
      if (seconds < shortest_s) continue;
      if (seconds > 0) {
        intervals.push_back({.at = static_cast<double>(instant.step),
                             .seconds = seconds,
                             .steps = static_cast<double>(instant.step - before->step)});
      }
    } else if (before != nullptr && instant.step == before->step) {
      continue;
    }
    before = &instant;
  }
  return intervals;
}

std::optional<StepPace> step_pace(std::span<const StepInterval> intervals, double from, double to) {
  std::vector<StepInterval> held;
  double steps = 0;
  for (const StepInterval& interval : intervals) {
    if (interval.at < from || interval.at > to) continue;
    held.push_back(interval);
    steps += interval.steps;
  }
  if (held.empty()) return std::nullopt;
  const auto pace = [](const StepInterval& of) { return of.seconds / of.steps; };
  std::sort(held.begin(), held.end(),
            [&](const StepInterval& a, const StepInterval& b) { return pace(a) < pace(b); });
  StepPace result{.intervals = held.size()};
  result.quartiles = {pace(held.front()), pace(held.back())};
  double passed = 0, kept_seconds = 0, kept_steps = 0;
  for (const StepInterval& interval : held) {
    const double start = std::max(passed, 0.25 * steps);
    const double end = std::min(passed + interval.steps, 0.75 * steps);
    if (passed <= 0.25 * steps) result.quartiles.low = pace(interval);
    if (passed <= 0.75 * steps) result.quartiles.high = pace(interval);
    passed += interval.steps;
    if (end <= start) continue;
    kept_steps += end - start;
    kept_seconds += (end - start) * pace(interval);
  }
  if (!(kept_steps > 0)) return std::nullopt;
  result.seconds = kept_seconds / kept_steps;
  return result;
}

}  // namespace plateau
