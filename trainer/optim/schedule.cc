// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "trainer/optim/optimizer.h"

namespace plateau::train {
namespace {

constexpr double kPolynomialEnd = 1e-7;

}  // namespace

double schedule_factor(ScheduleKind kind, int64_t step, int64_t warmup, int64_t total,
                       double learning_rate) {
  if (kind == ScheduleKind::constant) return 1;
  const auto done = static_cast<double>(step);
  if (step < warmup) return done / static_cast<double>(std::max<int64_t>(1, warmup));
  if (kind == ScheduleKind::constant_with_warmup) return 1;
  const auto falling = static_cast<double>(std::max<int64_t>(1, total - warmup));
  if (kind == ScheduleKind::linear) {
    return std::max(0.0, static_cast<double>(total - step) / falling);
  }
  if (kind == ScheduleKind::polynomial) {
    // A rate below the end has nowhere to fall to.
    const double end = learning_rate > kPolynomialEnd ? kPolynomialEnd / learning_rate : 1;
    const double left = std::clamp(static_cast<double>(total - step) / falling, 0.0, 1.0);
    return end + (1 - end) * left;
  }
  const double progress = static_cast<double>(step - warmup) / falling;
  // Half a wave: past the end it would rise again.
  if (progress >= 1) return 0;
  return std::max(0.0, 0.5 * (1 + std::cos(std::numbers::pi * progress)));
}

}  // namespace plateau::train
