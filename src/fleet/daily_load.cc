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

// Of yesterday's wave, what today's may be.
constexpr double kLeastOfWave = 2.0 / 3;
constexpr double kMostOfWave = 1.5;

// From the fifth to the ninety-fifth of a hundred: one spike is no wave.
double range_of(const std::vector<double>& values) {
  return interpolated_quantile(values, 0.95) - interpolated_quantile(values, 0.05);
}

std::vector<Sample> no_wave(const std::vector<Sample>& samples) {
  return {{samples.front().at_s, 0}};
}

// As much of the earlier day as fits today best, without its level.
std::vector<Sample> scaled_wave(const std::vector<Sample>& within, const std::vector<double>& then,
                                const std::vector<double>& now) {
  const Line line =
      fit_line(then.size(), [&](size_t i) { return then[i]; }, [&](size_t i) { return now[i]; });
  const double scale = std::clamp(line.slope, kLeastOfWave, kMostOfWave);
  const double low = *std::min_element(then.begin(), then.end());
  std::vector<Sample> wave;
  wave.reserve(within.size());
  for (size_t i = 0; i < within.size(); ++i) {
    wave.push_back({within[i].at_s, scale * (then[i] - low)});
  }
  return wave;
}

}  // namespace

std::string_view load_source_name(LoadSource source) {
  constexpr std::array<std::string_view, 4> kNames = {"none", "day before", "week before", "work"};
  return kNames[static_cast<size_t>(source)];
}

std::optional<std::vector<Sample>> wave_of(const EarlierDay& earlier,
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
  if (range_of(then) <= kFlat * range_now) return no_wave(today);
  if (!earlier.same_life) return std::nullopt;
  const double distance = upper_median(apart);
  if (std::fabs(distance) <= kSameLevel * range_now) return scaled_wave(within, then, now);
  if (distance < 0) return std::nullopt;
  const double rate = distance / (earlier.days * kDayS);
  for (size_t i = 0; i < then.size(); ++i) then[i] -= rate * (within[i].at_s - within[0].at_s);
  if (range_of(then) <= kFlat * range_now) return no_wave(today);
  return scaled_wave(within, then, now);
}

void take_off(const std::vector<Sample>& wave, std::vector<Sample>& samples) {
  for (Sample& sample : samples) {
    sample.value = std::max(0.0, sample.value - interpolated(wave, sample.at_s));
  }
}

}  // namespace plateau::fleet
