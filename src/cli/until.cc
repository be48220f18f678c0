// SPDX-License-Identifier: Apache-2.0
#include "cli/until.h"

#include <algorithm>
#include <cmath>

namespace plateau {
namespace {

constexpr double kDay = 86400;

// A time of day names one moment a day; the one nearest to the run is meant.
double moment_of_clock(double time_of_day, double first, double last) {
  const double today = std::floor(first / kDay) * kDay + time_of_day;
  if (today >= first) return today;
  const double tomorrow = today + kDay;
  return std::max(0.0, tomorrow - last) < first - today ? tomorrow : today;
}

double moment_of(const TimeLimit& limit, const Run& run) {
  double first = kMissing;
  double last = kMissing;
  for (const Instant& instant : run.instants) {
    if (!std::isfinite(instant.time_s)) continue;
    if (std::isnan(first)) first = instant.time_s;
    last = instant.time_s;
  }
  switch (limit.kind) {
    case TimeLimit::Kind::elapsed:
      return first + limit.seconds;
    case TimeLimit::Kind::clock:
      return moment_of_clock(limit.seconds, first, last);
    case TimeLimit::Kind::date:
      return limit.seconds;
  }
  return first;
}

template <typename Past>
size_t count_before(const Run& run, Past past) {
  const auto found = std::find_if(run.instants.begin(), run.instants.end(), past);
  return static_cast<size_t>(found - run.instants.begin());
}

}  // namespace

Result<Run> cut_run(const Run& run, const Until& until) {
  const auto& instants = run.instants;
  size_t count = instants.size();
  if (until.step) {
    const bool any = std::any_of(instants.begin(), instants.end(),
                                 [](const Instant& instant) { return instant.step >= 0; });
    if (!any) {
      return usage_error(run.source + " has no steps; use --until-time");
    }
    count = std::min(count, count_before(run, [&](const Instant& instant) {
                       return static_cast<double>(instant.step) > *until.step;
                     }));
  }
  if (until.time) {
    const bool any = std::any_of(instants.begin(), instants.end(), [](const Instant& instant) {
      return std::isfinite(instant.time_s);
    });
    if (!any) return usage_error(run.source + " has no times; use --until-step");
    if (until.time->kind == TimeLimit::Kind::date && !run.epoch_time) {
      return usage_error(run.source + " has no dates; give --until-time as 10m or 13:18");
    }
    const double moment = moment_of(*until.time, run);
    count = std::min(
        count, count_before(run, [&](const Instant& instant) { return instant.time_s > moment; }));
  }
  return count == instants.size() ? run : prefix_of(run, count);
}

}  // namespace plateau
