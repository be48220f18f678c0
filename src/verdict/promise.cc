// SPDX-License-Identifier: Apache-2.0
#include "verdict/promise.h"

#include <algorithm>
#include <cmath>

#include "verdict/outlook.h"

namespace plateau {
namespace {

// Growth without end against all shapes that end but for a cache that is still filling, as a
// logarithm of odds: from here on it is time, and nothing in the curve, that decides.
constexpr double kClearCurve = 2;
// More than the word takes: a curve that goes on as it does still wavers.
constexpr double kToSpare = 0.01;
// What it may take longer than it should. These three were chosen on corpus/fit, beside dev, own
// and lives.
constexpr double kLateByShare = 0.15;
// Nothing is promised that is farther off than so many times the run so far, or the deadline.
constexpr double kFarthest = 2;
constexpr int kHalvings = 40;

// The decision at later moments, if the curve goes on as it does.
class Later {
 public:
  Later(const Decision& decision, const Timeline& timeline)
      : decision_(decision),
        timeline_(timeline),
        interval_(sample_interval(decision.floors)),
        ends_(std::exp(-decision.odds.shapes)),
        fills_(std::max(0.0, std::exp(-decision.odds.all) - ends_) /
               still_filling_share(timeline, decision.floors.now)) {}

  [[nodiscard]] bool is_leak_at(double at) const {
    const double age = (at - timeline_.begins) / (timeline_.deadline - timeline_.begins);
    if (age < kEarliestLeak || samples_at(at) < kMinSamplesOfLeak) return false;
    const double believed = believed_at(at);
    if (believed < decision_.leak_takes + kToSpare) return false;
    const double before = timeline_.begins + kLookBefore * (at - timeline_.begins);
    return believed >= kSureAlone || timeline_.new_examples.tell_apart() ||
           believed_at(before) >= kLikelyBefore;
  }

 private:
  [[nodiscard]] double samples_at(double at) const {
    const double more = (at - decision_.floors.now) / interval_;
    return std::max(1.0, static_cast<double>(samples_of(decision_)) + more);
  }
  [[nodiscard]] double believed_at(double at) const {
    return believed_of(1 / (1 + ends_ + fills_ * still_filling_share(timeline_, at)),
                       samples_at(at));
  }

  const Decision& decision_;
  const Timeline& timeline_;
  double interval_;
  double ends_;   // Odds of what ends visibly against growth without end, and ...
  double fills_;  // ... of a cache that still fills, were none of its weight lost to time.
};

}  // namespace

std::optional<double> known_by(const Decision& decision, const Timeline& timeline) {
  const std::optional<double> earliest = decides_at(decision, timeline);
  if (!earliest || decision.leak <= 0.5 || decision.odds.shapes < kClearCurve) return std::nullopt;
  const double now = decision.floors.now;
  const double so_far = std::max(now, timeline.deadline) - timeline.begins;
  double not_yet = now, known = now + kFarthest * so_far;
  const Later later(decision, timeline);
  if (!later.is_leak_at(known)) return std::nullopt;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (not_yet + known) / 2;
    (later.is_leak_at(middle) ? known : not_yet) = middle;
  }
  const double by = now + (1 + kLateByShare) * (std::max(known, *earliest) - now);
  if (timeline.total_steps > 0 && by > timeline.total_steps) return std::nullopt;
  return by;
}

}  // namespace plateau
