// SPDX-License-Identifier: Apache-2.0
#include "verdict/examples_seen.h"

#include <algorithm>
#include <cmath>

namespace plateau {
namespace {

constexpr double kStoodStill = 1.1;  // Times the clock of the last new example.
constexpr double kAsFast = 0.8;

const Gauge* count_of(const Run& run) {
  const auto counted = std::find_if(run.gauges.begin(), run.gauges.end(),
                                    [](const Gauge& gauge) { return gauge.name == kExamplesSeen; });
  return counted == run.gauges.end() ? nullptr : &*counted;
}

}  // namespace

bool new_examples_go_on(const Run& run, const std::vector<double>& clock, double epoch) {
  const Gauge* counted = count_of(run);
  if (counted == nullptr || epoch <= 0) return false;
  double at_epoch = 0, by_epoch = 0, now = 0, seen_now = 0;
  for (size_t i = 0; i < std::min(counted->value.size(), clock.size()); ++i) {
    if (!std::isfinite(counted->value[i]) || !std::isfinite(clock[i])) continue;
    now = clock[i], seen_now = counted->value[i];
    if (now <= epoch) at_epoch = now, by_epoch = seen_now;
  }
  if (at_epoch <= 0 || now <= at_epoch) return false;
  return (seen_now - by_epoch) / (now - at_epoch) > kAsFast * by_epoch / at_epoch;
}

std::optional<double> last_new_example(const Run& run, const std::vector<double>& clock) {
  const Gauge* counted = count_of(run);
  if (counted == nullptr) return std::nullopt;
  const size_t count = std::min(counted->value.size(), clock.size());
  double most = 0, last_rise = 0, now = 0;
  for (size_t i = 0; i < count; ++i) {
    const double seen = counted->value[i];
    if (!std::isfinite(seen) || !std::isfinite(clock[i])) continue;
    now = clock[i];
    if (seen <= most) continue;
    most = seen;
    last_rise = now;
  }
  if (most <= 0 || now < kStoodStill * last_rise) return std::nullopt;
  return last_rise;
}

}  // namespace plateau
