// SPDX-License-Identifier: Apache-2.0
#include "fleet/drift.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "base/statistics.h"

namespace plateau::fleet {
namespace {

constexpr size_t kParts = 12;
constexpr size_t kEnds = 3;          // Floors at either end, of which the mean counts.
constexpr size_t kFewestOfPart = 3;  // Samples.
constexpr double kFloor = 0.1;       // Quantile.
constexpr double kLeastTau = 0.8;
constexpr double kLeastOfLevel = 0.02;
constexpr double kLeastLate = 0.15;
constexpr double kMostOfOneStep = 0.5;  // Of the rise from the first floor to the last.

using Floors = std::array<double, kParts>;

std::optional<Floors> floors_of(const std::vector<Sample>& samples) {
  if (samples.size() < kParts * kFewestOfPart) return std::nullopt;
  const double begin = samples.front().at_s;
  const double span = samples.back().at_s - begin;
  if (!(span > 0)) return std::nullopt;
  std::array<std::vector<double>, kParts> parts;
  for (const Sample& sample : samples) {
    const double share = (sample.at_s - begin) / span;
    const size_t part = std::min(static_cast<size_t>(share * kParts), kParts - 1);
    parts.at(part).push_back(sample.value);
  }
  Floors floors{};
  for (size_t i = 0; i < kParts; ++i) {
    if (parts.at(i).size() < kFewestOfPart) return std::nullopt;
    floors.at(i) = interpolated_quantile(std::move(parts.at(i)), kFloor);
  }
  return floors;
}

double mean_of(const Floors& floors, size_t from, size_t count) {
  const auto first = floors.begin() + static_cast<std::ptrdiff_t>(from);
  return std::accumulate(first, first + static_cast<std::ptrdiff_t>(count), 0.0) /
         static_cast<double>(count);
}

double tau_of(const Floors& floors) {
  int sum = 0;
  for (size_t i = 0; i < kParts; ++i) {
    for (size_t j = i + 1; j < kParts; ++j) {
      sum += static_cast<int>(floors.at(j) > floors.at(i)) -
             static_cast<int>(floors.at(j) < floors.at(i));
    }
  }
  return sum / (kParts * (kParts - 1) / 2.0);
}

// The largest rise from one floor to the next.
double steepest_of(const Floors& floors) {
  double steepest = 0;
  for (size_t i = 1; i < kParts; ++i) {
    steepest = std::max(steepest, floors.at(i) - floors.at(i - 1));
  }
  return steepest;
}

bool climbs(const Floors& floors) {
  const double first = mean_of(floors, 0, kEnds);
  const double last = mean_of(floors, kParts - kEnds, kEnds);
  const double late = last - mean_of(floors, kParts / 2 - 1, 2);
  return tau_of(floors) >= kLeastTau &&
         last - first >= kLeastOfLevel * mean_of(floors, 0, kParts) &&
         late >= kLeastLate * (last - first) &&
         steepest_of(floors) <= kMostOfOneStep * (floors.back() - floors.front());
}

}  // namespace

Drift drift_of(const std::vector<Sample>& samples) {
  const std::optional<Floors> floors = floors_of(samples);
  if (!floors) return {};
  Floors backwards = *floors;
  std::ranges::reverse(backwards);
  Drift drift;
  if (climbs(*floors)) {
    drift.way = Drift::Way::climbs;
  } else if (climbs(backwards)) {
    drift.way = Drift::Way::falls;
  } else {
    return drift;
  }
  const double apart_s = (samples.back().at_s - samples.front().at_s) * (kParts - kEnds) / kParts;
  drift.rate_mb_per_s =
      (mean_of(*floors, kParts - kEnds, kEnds) - mean_of(*floors, 0, kEnds)) / apart_s;
  return drift;
}

}  // namespace plateau::fleet
