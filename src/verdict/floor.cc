// SPDX-License-Identifier: Apache-2.0
#include "verdict/floor.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace plateau {
namespace {

// A peak of one or two samples is a spike; with very few samples only a single one can be told.
constexpr size_t kOpening = 3;
constexpr size_t kOpeningOfFew = 2;
constexpr size_t kFew = 12;

// A spike stands out by eight times the usual step between samples (a normal variable does that
// once in 10^7) and by 3 % of the level, below which nobody asks about a spike.
constexpr double kSpikeSteps = 8.0;
constexpr double kSpikeShare = 0.03;

// A tooth gives back a quarter of all that was gained, and stands out from the usual step.
constexpr double kToothSteps = 5.0;
constexpr double kToothShare = 0.25;

// So many teeth are a saw; and so few stretches still show a trend.
constexpr size_t kBelievedTeeth = 4;
constexpr size_t kFewestStretches = 5;

double usual_step(const std::vector<TimedValue>& points) {
  std::vector<double> steps;
  for (size_t i = 1; i < points.size(); ++i) {
    steps.push_back(std::fabs(points[i].mb - points[i - 1].mb));
  }
  return upper_median(steps);
}

// Too few samples for one window are left as they are.
std::vector<double> open(const std::vector<TimedValue>& points, size_t m) {
  const size_t n = points.size();
  const auto mb = [&](size_t i) { return points[i].mb; };
  std::vector<double> opened(n);
  for (size_t i = 0; i < n; ++i) opened[i] = n < m ? mb(i) : opened_at(n, mb, i, m);
  return opened;
}

void collect_spikes(const std::vector<TimedValue>& points, const std::vector<double>& opened,
                    double stands_out, Floors& floors) {
  bool inside = false;
  for (size_t i = 0; i < points.size(); ++i) {
    const double height = points[i].mb - opened[i];
    if (height <= std::max(stands_out, kSpikeShare * opened[i])) {
      inside = false;
      continue;
    }
    if (!inside) floors.spikes.push_back({.from = points[i].at, .to = points[i].at});
    inside = true;
    Spike& spike = floors.spikes.back();
    spike.to = points[i].at;
    spike.height_mb = std::max(spike.height_mb, height);
    spike.peak_mb = std::max(spike.peak_mb, points[i].mb);
  }
}

// Teeth: falls between neighbouring samples that stand out and give back a good part of the range.
// Two of them make a saw; their distance is its period.
void measure_teeth(double step, Floors& floors) {
  const std::vector<TimedValue>& opened = floors.opened;
  const auto [low, high] =
      std::minmax_element(opened.begin(), opened.end(),
                          [](const TimedValue& a, const TimedValue& b) { return a.mb < b.mb; });
  const double tall = std::max(kToothSteps * step, kToothShare * (high->mb - low->mb));
  std::vector<double> heights;
  std::vector<double> distances;
  double previous = 0;
  for (size_t i = 1; i < opened.size(); ++i) {
    const double fall = opened[i - 1].mb - opened[i].mb;
    if (fall <= tall) continue;
    if (!heights.empty()) distances.push_back(opened[i].at - previous);
    heights.push_back(fall);
    previous = opened[i].at;
  }
  if (distances.empty()) return;
  floors.teeth = heights.size();
  floors.teeth_mb = upper_median(heights);
  floors.teeth_period = upper_median(distances);
}

// How many stretches there may be so that each holds the bottom of a tooth, if teeth repeat often
// enough to be believed.
size_t whole_teeth(const Floors& floors) {
  if (floors.teeth < kBelievedTeeth || floors.teeth_period <= 0) return kMaxFloors;
  // The last sample stands for as much of the clock as the others do.
  const auto samples = static_cast<double>(floors.opened.size());
  const double span =
      (floors.opened.back().at - floors.opened.front().at) * samples / (samples - 1);
  return std::max(kFewestStretches, static_cast<size_t>(span / floors.teeth_period));
}

// Minimum of each stretch, placed at the stretch's first sample.
void cut_into_stretches(size_t stretches, Floors& floors) {
  const std::vector<TimedValue>& opened = floors.opened;
  if (opened.size() <= stretches) {
    for (const TimedValue& point : opened) {
      floors.at.push_back(point.at);
      floors.mb.push_back(point.mb);
    }
    return;
  }
  const double start = opened.front().at;
  // A hair wider than the span, so that the last sample falls into the last stretch.
  const double width = (opened.back().at - start) / static_cast<double>(stretches) * (1 + 1e-9);
  double stretch = -1;
  for (const TimedValue& point : opened) {
    const double of_point = std::floor((point.at - start) / width);
    if (of_point != stretch) {
      stretch = of_point;
      floors.at.push_back(point.at);
      floors.mb.push_back(point.mb);
    } else {
      floors.mb.back() = std::min(floors.mb.back(), point.mb);
    }
  }
}

}  // namespace

Floors find_floors(const std::vector<TimedValue>& points, size_t stretches) {
  Floors floors;
  if (points.empty()) return floors;
  floors.now = points.back().at;
  const size_t m = points.size() < kFew ? kOpeningOfFew : kOpening;
  const double step = usual_step(points);
  const double stands_out = kSpikeSteps * step;
  const std::vector<double> opened = open(points, m);
  collect_spikes(points, opened, stands_out, floors);

  for (size_t i = 0; i < points.size(); ++i) {
    double mb = opened[i];
    if (i + m > points.size()) {
      if (points[i].mb - mb > std::max(stands_out, kSpikeShare * mb)) {
        ++floors.pending;
        continue;
      }
      mb = points[i].mb;
    }
    floors.opened.push_back({points[i].at, mb});
  }
  measure_teeth(step, floors);
  cut_into_stretches(std::min({stretches, kMaxFloors, whole_teeth(floors)}), floors);
  const auto [low, high] = std::minmax_element(floors.mb.begin(), floors.mb.end());
  floors.level_mb = *high;
  floors.range_mb = *high - *low;
  return floors;
}

}  // namespace plateau
