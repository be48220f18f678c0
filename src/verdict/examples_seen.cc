// SPDX-License-Identifier: Apache-2.0
#include "verdict/examples_seen.h"

#include <algorithm>
#include <cmath>

namespace plateau {
namespace {

constexpr double kStoodStill = 1.1;  // Times the clock of the last new example.

}  // namespace

std::optional<double> last_new_example(const Run& run, const std::vector<double>& clock) {
  const auto counted = std::find_if(run.gauges.begin(), run.gauges.end(),
                                    [](const Gauge& gauge) { return gauge.name == kExamplesSeen; });
  if (counted == run.gauges.end()) return std::nullopt;
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
