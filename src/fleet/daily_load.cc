// SPDX-License-Identifier: Apache-2.0
#include "fleet/daily_load.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/statistics.h"
#include "fleet/interpolate.h"

namespace plateau::fleet {
namespace {

constexpr double kDayS = 86400;
constexpr size_t kFewest = 12;      // Points of an earlier day.
constexpr double kCovered = 0.8;    // Of today's span, by those.
constexpr double kFlat = 0.25;      // A range of less than this share of today's is flat.
constexpr double kSameLevel = 0.5;  // A distance of less than this share of today's range is none.

// From the fifth to the ninety-fifth of a hundred: one spike is no wave.
double range_of(const std::vector<double>& values) {
  return interpolated_quantile(values, 0.95) - interpolated_quantile(values, 0.05);
}

std::vector<Sample> constant_over(const std::vector<Sample>& samples) {
  return {{samples.front().at_s, 1}, {samples.back().at_s, 1}};
}

// Without its level, which is memory that no load holds, so that it varies as a load does.
std::vector<Sample> as_load(const std::vector<Sample>& samples, const std::vector<double>& values) {
  const double low = *std::min_element(values.begin(), values.end());
  const double range = range_of(values);
  std::vector<Sample> load;
  load.reserve(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    load.push_back({samples[i].at_s, values[i] - low + range / 4});
  }
  return load;
}

}  // namespace

std::string_view load_source_name(LoadSource source) {
  constexpr std::array<std::string_view, 4> kNames = {"none", "day before", "week before", "work"};
  return kNames[static_cast<size_t>(source)];
}

std::optional<std::vector<Sample>> load_of(const EarlierDay& earlier,
                                           const std::vector<Sample>& today) {
  if (today.size() < kFewest || earlier.samples.size() < kFewest) return std::nullopt;
  const double span = today.back().at_s - today.front().at_s;
  std::vector<Sample> within;
  for (const Sample& sample : earlier.samples) {
    if (sample.at_s >= today.front().at_s && sample.at_s <= today.back().at_s) {
      within.push_back(sample);
    }
  }
  if (within.size() < kFewest || within.back().at_s - within.front().at_s < kCovered * span) {
    return std::nullopt;
  }
  std::vector<double> then, now, apart;
  for (const Sample& sample : within) {
    then.push_back(sample.value);
    now.push_back(interpolated(today, sample.at_s));
    apart.push_back(now.back() - then.back());
  }
  const double range_now = range_of(now);
  if (range_of(then) <= kFlat * range_now) return constant_over(today);
  if (!earlier.same_life) return std::nullopt;
  const double distance = upper_median(apart);
  if (std::fabs(distance) <= kSameLevel * range_now) return as_load(within, then);
  if (distance < 0) return std::nullopt;
  const double rate = distance / (earlier.days * kDayS);
  for (size_t i = 0; i < then.size(); ++i) then[i] -= rate * (within[i].at_s - within[0].at_s);
  if (range_of(then) <= kFlat * range_now) return constant_over(today);
  return as_load(within, then);
}

}  // namespace plateau::fleet
