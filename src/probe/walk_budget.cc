// SPDX-License-Identifier: Apache-2.0
#include "probe/walk_budget.h"

#include <algorithm>

namespace plateau {
namespace {

constexpr double kSecondsPerKb = 0.025 / (1024.0 * 1024.0);
constexpr double kAtOnceSeconds = 0.020;
constexpr double kSteadyLeastSeconds = 1.0;
constexpr double kSteadyMostSeconds = 60.0;
constexpr double kStretches = 28;  // That a verdict cuts a run into.
constexpr double kAfterChangeSeconds = 0.2;

// Clocks are differences of doubles; without slack "every 2 s" would be missed by a rounding error.
constexpr double kSlackSeconds = 1e-6;

}  // namespace

double WalkTarget::share(double now_s) const {
  if (walked_s <= 0) return 0;
  return walked_s / std::max(now_s - born_s, walked_s);
}

double WalkBudget::expected_s(const WalkTarget& target, int64_t rss_kb) {
  const auto rss = static_cast<double>(std::max<int64_t>(rss_kb, 0));
  if (!target.walked) return rss * kSecondsPerKb;
  const auto then = static_cast<double>(std::max<int64_t>(target.last_rss_kb, 1));
  return target.last_s * std::max(1.0, rss / then);
}

bool WalkBudget::due(double now_s, std::span<const Load> loads) {
  if (!started_) {
    started_ = true;
    since_s_ = now_s;
    first_s_ = now_s;
  }
  if (wanted_) return true;
  double sweep_s = 0;
  bool paid = true;
  const double waited_s = now_s - since_s_ + kSlackSeconds;
  for (const Load& load : loads) {
    const double walk_s = expected_s(*load.target, load.rss_kb);
    sweep_s += walk_s;
    const double life_s = now_s - load.target->born_s + kSlackSeconds;
    if (load.target->walked_s + walk_s > life_s * walk_share_) paid = false;
    if (load.target->walked && walk_s > waited_s * walk_share_) paid = false;
  }
  if (!swept_ && sweep_s < kAtOnceSeconds) return true;
  if (!paid) return false;
  const double due_s = std::max(sweep_s, unpaid_s_) / walk_cpu_share_;
  const double steady_s =
      std::clamp((now_s - first_s_) / kStretches, kSteadyLeastSeconds, kSteadyMostSeconds);
  return waited_s >= std::max(due_s, changed_ ? kAfterChangeSeconds : steady_s);
}

void WalkBudget::book(WalkTarget& target, double seconds) {
  target.walked_s += seconds;
  unpaid_s_ += seconds;
  total_s_ += seconds;
}

void WalkBudget::book_walk(WalkTarget& target, int64_t rss_kb, double seconds) {
  book(target, seconds);
  target.walked = true;
  target.last_s = seconds;
  target.last_rss_kb = rss_kb;
  ++walks_;
}

void WalkBudget::end_sweep(double now_s) {
  started_ = true;
  since_s_ = now_s;
  swept_ = true;
  wanted_ = false;
  changed_ = false;
}

}  // namespace plateau
