// SPDX-License-Identifier: Apache-2.0
#include "verdict/expectation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace plateau {
namespace {

// Growth that a level may still show at its end: what the verdict itself calls level.
std::string not_settled(const Verdict& verdict, double by) {
  const std::string unit(clock_unit(verdict.clock));
  if (verdict.settled) {
    return fmt::format("memory settled at {} {:.0f}, not by {:.0f}", unit, verdict.settled->step,
                       by);
  }
  return fmt::format("memory has not settled by {} {:.0f}: it grows by {} per {}", unit, by,
                     format_mb(std::max(0.0, verdict.rate_mb_per_step)), unit);
}

}  // namespace

std::optional<double> spread_from(const Verdict& verdict, double from) {
  std::optional<double> low;
  double high = 0;
  for (const PlotPoint& point : verdict.plot) {
    if (point.spike || point.step < from) continue;
    high = low ? std::max(high, point.mb) : point.mb;
    low = low ? std::min(*low, point.mb) : point.mb;
  }
  if (!low) return std::nullopt;
  return high - *low;
}

std::vector<std::string> unmet(const Verdict& verdict, const Expectation& expected) {
  std::vector<std::string> missing;
  if (expected.word && verdict.word != *expected.word) {
    missing.push_back(
        fmt::format("expected {}, found {}", word_name(*expected.word), word_name(verdict.word)));
  }
  if (expected.settle_by) {
    const double by = *expected.settle_by;
    if (verdict.last_step < by) {
      missing.push_back(fmt::format("the run ends at {} {:.0f}, before {:.0f}",
                                    clock_unit(verdict.clock), verdict.last_step, by));
    } else if (!verdict.settled || verdict.settled->step > by) {
      missing.push_back(not_settled(verdict, by));
    }
  }
  if (expected.spread_mb) {
    const double settled = verdict.settled ? verdict.settled->step : verdict.first_step;
    const double from = expected.settle_by.value_or(settled);
    const std::optional<double> spread = spread_from(verdict, from);
    if (spread && *spread > *expected.spread_mb) {
      missing.push_back(fmt::format("from {} {:.0f} on memory varies by {}, more than {}",
                                    clock_unit(verdict.clock), from, format_mb(*spread),
                                    format_mb(*expected.spread_mb)));
    }
  }
  return missing;
}

}  // namespace plateau
