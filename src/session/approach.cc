// SPDX-License-Identifier: Apache-2.0
#include "session/approach.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/statistics.h"

namespace plateau {
namespace {

constexpr size_t kMostRises = 8;
constexpr size_t kLeastRises = 6;
constexpr double kShareThatRose = 0.75;
// Steps that have not come for so many times their usual length say nothing about now.
constexpr double kStepsOverdue = 5;
constexpr double kOverdueSeconds = 1;

constexpr double kWindowSeconds = 3;
constexpr int kWindowParts = 3;
constexpr double kApartSeconds = 0.1;

constexpr double kStepsAhead = 2;
constexpr double kMostAhead = 0.25;  // Of the limit.

}  // namespace

void Approach::look(double mb, double at_s, int64_t step) {
  now_ = {step, at_s, mb};
  if (step >= 0 && (steps_.empty() || step > steps_.back().step)) steps_.push_back(now_);
  if (steps_.size() > kMostRises + 1) steps_.pop_front();
  if (seconds_.empty() || at_s >= seconds_.back().at_s + kApartSeconds) seconds_.push_back(now_);
  // One mark from before the window stays: where it begins.
  while (seconds_.size() > 2 && seconds_[1].at_s <= at_s - kWindowSeconds) seconds_.pop_front();
  const std::optional<Growth> stepped = by_steps();
  growth_ = stepped ? *stepped : by_seconds();
}

std::optional<Approach::Growth> Approach::by_steps() const {
  if (steps_.size() < kLeastRises + 1) return std::nullopt;
  std::vector<double> rises, lengths_s;
  for (size_t i = 1; i < steps_.size(); ++i) {
    const auto passed = static_cast<double>(steps_[i].step - steps_[i - 1].step);
    rises.push_back((steps_[i].mb - steps_[i - 1].mb) / passed);
    lengths_s.push_back((steps_[i].at_s - steps_[i - 1].at_s) / passed);
  }
  const double length_s = std::max(interpolated_quantile(std::move(lengths_s), 0.5), 1e-3);
  const double since_s = now_.at_s - steps_.back().at_s;
  if (since_s > kOverdueSeconds + kStepsOverdue * length_s) return std::nullopt;
  if (interpolated_quantile(rises, 1 - kShareThatRose) <= 0) return Growth{};
  const double rise = interpolated_quantile(std::move(rises), 0.5);
  return Growth{rise, rise / length_s};
}

Approach::Growth Approach::by_seconds() const {
  const double from_s = now_.at_s - kWindowSeconds;
  if (seconds_.empty() || seconds_.front().at_s > from_s + kApartSeconds) return {};
  // What was held at a moment: as at the last look before it.
  const auto held_at = [this](double at_s) {
    double mb = seconds_.front().mb;
    for (const Mark& mark : seconds_) {
      if (mark.at_s <= at_s + 1e-9) mb = mark.mb;
    }
    return mb;
  };
  double least = std::numeric_limits<double>::infinity();
  for (int part = 0; part < kWindowParts; ++part) {
    const double at_s = from_s + part * kWindowSeconds / kWindowParts;
    const double until_s = at_s + kWindowSeconds / kWindowParts;
    const double until_mb = part + 1 == kWindowParts ? now_.mb : held_at(until_s);
    least = std::min(least, (until_mb - held_at(at_s)) / (until_s - at_s));
  }
  return {0, std::max(0.0, least)};
}

double Approach::ahead_mb(double limit_mb) const {
  const double until_look_mb = growth_.mb_per_s * 2 * kLeastLookSeconds;
  return std::min(kMostAhead * limit_mb, kStepsAhead * growth_.mb_per_step + until_look_mb);
}

double Approach::look_in_s(double limit_mb) const {
  if (growth_.mb_per_s <= 0) return std::numeric_limits<double>::infinity();
  const double left_mb = limit_mb - ahead_mb(limit_mb) - now_.mb;
  return std::max(kLeastLookSeconds, left_mb / (2 * growth_.mb_per_s));
}

}  // namespace plateau
