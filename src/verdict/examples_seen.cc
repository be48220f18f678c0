// SPDX-License-Identifier: Apache-2.0
#include "verdict/examples_seen.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace plateau {
namespace {

constexpr double kStoodStill = 1.1;  // Times the clock of the last new example.
constexpr double kAsFast = 0.8;      // Of the rate in the first pass.
constexpr double kHardlyAny = 0.1;   // The same.
constexpr size_t kEnds = 3;          // Readings whose median stands for an end of a stretch.

const Gauge* count_of(const Run& run) {
  const auto counted = std::find_if(run.gauges.begin(), run.gauges.end(),
                                    [](const Gauge& gauge) { return gauge.name == kExamplesSeen; });
  return counted == run.gauges.end() ? nullptr : &*counted;
}

// The middle of the readings [first, first + kEnds).
double level_at(std::span<const TimedValue> points, size_t first) {
  std::vector<double> values;
  for (const TimedValue& point : points.subspan(first, kEnds)) values.push_back(point.mb);
  return upper_median(values);
}

// The rate after `at` as a share of that before; nullopt where one of them cannot be told.
std::optional<double> bend_at(std::span<const TimedValue> points, double at) {
  size_t before = 0;
  while (before < points.size() && points[before].at <= at) ++before;
  if (before < 2 * kEnds || points.size() - before < 2 * kEnds) return std::nullopt;
  const auto rate = [&points](size_t from, size_t to) {
    return (level_at(points, to) - level_at(points, from)) / (points[to].at - points[from].at);
  };
  const double first = rate(0, before - kEnds);
  if (!(first > 0)) return std::nullopt;
  return rate(before, points.size() - kEnds) / first;
}

}  // namespace

bool growth_follows_new_examples(const Run& run, const std::vector<double>& clock,
                                 std::span<const TimedValue> memory, double epoch) {
  const Gauge* counted = count_of(run);
  if (counted == nullptr || epoch <= 0) return false;
  std::vector<TimedValue> count;
  for (size_t i = 0; i < std::min(counted->value.size(), clock.size()); ++i) {
    const bool known = std::isfinite(counted->value[i]) && std::isfinite(clock[i]);
    if (known) count.push_back({clock[i], counted->value[i]});
  }
  const std::optional<double> bend_of_count = bend_at(count, epoch);
  if (!bend_of_count) return false;
  if (*bend_of_count > kAsFast) return true;
  const std::optional<double> bend = bend_at(memory, epoch);
  return *bend_of_count > kHardlyAny && bend && *bend < (1 + *bend_of_count) / 2;
}

std::optional<double> last_new_example(const Run& run, const std::vector<double>& clock) {
  const Gauge* counted = count_of(run);
  if (counted == nullptr) return std::nullopt;
  const size_t count = std::min(counted->value.size(), clock.size());
  double most = 0, last_rise = 0, now = 0;
  for (size_t i = 0; i < count; ++i) {
    const double seen = counted->value[i];
    if (!std::isfinite(seen) || !std::isfinite(clock[i])) continue;
    now = clock[i];
    if (seen <= most) continue;
    most = seen;
    last_rise = now;
  }
  if (most <= 0 || now < kStoodStill * last_rise) return std::nullopt;
  return last_rise;
}

}  // namespace plateau
