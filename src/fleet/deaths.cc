// SPDX-License-Identifier: Apache-2.0
#include "fleet/deaths.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/statistics.h"

namespace plateau::fleet {
namespace {

constexpr double kAtLimit = 0.9;      // Of the limit; rss is not all that a limit counts.
constexpr double kClimbing = 0.05;    // Of the limit.
constexpr size_t kFewestOfLife = 20;  // Samples.
constexpr size_t kLast = 3;           // Samples, of which the highest counts.

double lowest(std::span<const Sample> samples) {
  return std::ranges::min_element(samples, {}, &Sample::value)->value;
}

double highest(std::span<const Sample> samples) {
  return std::ranges::max_element(samples, {}, &Sample::value)->value;
}

bool climbed_to(double limit_mb, std::span<const Sample> life) {
  if (life.size() < kFewestOfLife || highest(life.last(kLast)) < kAtLimit * limit_mb) return false;
  const size_t quarter = life.size() / 4;
  return lowest(life.last(quarter)) - lowest(life.subspan(quarter, quarter)) >=
         kClimbing * limit_mb;
}

}  // namespace

Deaths deaths_at_limit(const LifeSeries& series, double limit_mb) {
  Deaths deaths;
  std::vector<double> rates;
  std::span<const Sample> left(series.samples);
  for (const double begins : series.life_begins) {
    const auto end = std::ranges::lower_bound(left, begins, {}, &Sample::at_s);
    const auto count = static_cast<size_t>(end - left.begin());
    const std::span<const Sample> life = left.first(count);
    left = left.subspan(count);
    if (!climbed_to(limit_mb, life)) continue;
    const double took_s = life.back().at_s - life.front().at_s;
    ++deaths.count;
    deaths.longest_s = std::max(deaths.longest_s, took_s);
    rates.push_back((highest(life.last(kLast)) - lowest(life)) / took_s);
  }
  if (!rates.empty()) deaths.rate_mb_per_s = upper_median(rates);
  return deaths;
}

}  // namespace plateau::fleet
