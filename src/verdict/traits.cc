// SPDX-License-Identifier: Apache-2.0
#include "verdict/traits.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/statistics.h"

namespace plateau {
namespace {

double mean_between(const std::vector<double>& mb, double from, double to) {
  const auto n = static_cast<double>(mb.size());
  const auto first = static_cast<size_t>(from * n);
  const size_t last = std::max(first + 1, static_cast<size_t>(to * n));
  double sum = 0;
  for (size_t i = first; i < last; ++i) sum += mb[i];
  return sum / static_cast<double>(last - first);
}

// How the rise is spread over the run.
void spread_of_rise(const std::vector<double>& mb, double noise_mb, Traits& traits) {
  std::array<double, 4> quarter{};
  for (size_t i = 0; i < 4; ++i) {
    quarter[i] = mean_between(mb, static_cast<double>(i) / 4, static_cast<double>(i + 1) / 4);
  }
  double changes = noise_mb;
  for (size_t i = 1; i < 4; ++i) changes += std::fabs(quarter[i] - quarter[i - 1]);
  traits.recent = (quarter[3] - quarter[2]) / changes;
  const double first = (quarter[1] - mb.front()), second = quarter[3] - quarter[1];
  traits.recent_half = second / (std::fabs(first) + std::fabs(second) + noise_mb);
}

void steps_between_floors(const std::vector<double>& mb, double range_mb, Traits& traits) {
  double up = 0, down = 0;
  std::vector<double> rises, sizes;
  for (size_t i = 1; i < mb.size(); ++i) {
    const double step = mb[i] - mb[i - 1];
    (step > 0 ? up : down) += std::fabs(step);
    rises.push_back(std::max(step, 0.0));
    sizes.push_back(std::fabs(step));
  }
  std::sort(rises.begin(), rises.end(), std::greater<>());
  const double range = std::max(range_mb, 1e-6);
  traits.falls = down / std::max(up + down, 1e-6);
  traits.largest_jump = rises[0] / range;
  for (size_t i = 0; i < std::min<size_t>(rises.size(), 3); ++i)
    traits.top_three += rises[i] / range;
  traits.steepness = std::log(range / std::max(upper_median(sizes), 0.01));
}

bool goes_by_events(const Fit& fit) {
  return fit.family == &family_row(Family::per_evaluation) ||
         fit.family == &family_row(Family::per_checkpoint) ||
         fit.family == &family_row(Family::per_epoch);
}

bool begins_late(const Fit& fit) {
  return fit.family == &family_row(Family::late_start) ||
         fit.family == &family_row(Family::settled_then_linear) ||
         fit.family == &family_row(Family::linear_after_warmup) ||
         fit.family == &family_row(Family::linear_after_epoch);
}

void kinds_of_growth(const Posterior& posterior, Traits& traits) {
  double all = 1e-12;
  for (const Fit& fit : posterior.fits) {
    if (fit.family->bounded) continue;
    all += fit.weight;
    if (goes_by_events(fit)) traits.at_events += fit.weight;
    if (begins_late(fit)) traits.late += fit.weight;
  }
  traits.at_events /= all;
  traits.late /= all;
}

}  // namespace

Traits traits_of(const Decision& decision, const Timeline& timeline) {
  const Floors& floors = decision.floors;
  Traits traits;
  const double odds = std::log((decision.leak + 1e-12) / (1 - decision.leak + 1e-12));
  traits.evidence = std::clamp(odds, -kMostEvidence, kMostEvidence);
  traits.past_deadline = std::log(floors.now / timeline.deadline);
  traits.epoch_known = timeline.epoch_steps > 0;
  if (traits.epoch_known) traits.epochs = std::log(floors.now / timeline.epoch_steps);
  const auto samples = static_cast<double>(floors.opened.size() + floors.pending);
  traits.samples = std::log(samples / 50);
  spread_of_rise(floors.mb, decision.posterior.noise_floor_mb, traits);
  steps_between_floors(floors.mb, floors.range_mb, traits);
  traits.growth = std::log(std::max(floors.range_mb, 0.01) / std::max(floors.level_mb, 0.1));
  kinds_of_growth(decision.posterior, traits);
  traits.teeth = std::min(1.0, floors.teeth_mb / std::max(floors.range_mb, 0.1));
  traits.spikes = static_cast<double>(floors.spikes.size()) / samples;
  traits.at_high =
      (floors.mb.back() - (floors.level_mb - floors.range_mb)) / std::max(floors.range_mb, 1e-6);
  traits.in_seconds = timeline.in_seconds;
  return traits;
}

}  // namespace plateau
