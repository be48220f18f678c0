// SPDX-License-Identifier: Apache-2.0
#include "verdict/examples_seen.h"

#include <algorithm>
#include <cmath>

namespace plateau {
namespace {

constexpr double kStoodStill = 1.1;  // Times the clock of the last new example.
constexpr double kAsFast = 0.8;      // Of the pace in the first pass.
// A count that begins later in the first pass than this misses what was loaded before.
constexpr double kFromTheStart = 0.25;
constexpr double kFirstPace = 0.5;  // Of the first pass: nobody loads half a pass ahead.
// The pace of now is that since the first pass, or of so much of a pass if that is long ago: the
// first of them when it begins to be known.
constexpr double kLeastOfPass = 0.1;
constexpr double kMostOfPass = 0.5;

// The last value of a gauge, 0 without any.
double said_last(const Run& run, std::string_view name) {
  double last = 0;
  for (const Gauge& gauge : run.gauges) {
    if (gauge.name != name) continue;
    for (const double value : gauge.value) {
      if (std::isfinite(value)) last = value;
    }
  }
  return last;
}

// Of the process that counts now: one that is started anew counts anew.
std::vector<TimedValue> count_of(const Run& run, const std::vector<double>& clock, double begins) {
  std::vector<TimedValue> seen;
  const auto counted = std::find_if(run.gauges.begin(), run.gauges.end(),
                                    [](const Gauge& gauge) { return gauge.name == kExamplesSeen; });
  if (counted == run.gauges.end()) return seen;
  for (size_t i = 0; i < std::min(counted->value.size(), clock.size()); ++i) {
    const double count = counted->value[i];
    if (!std::isfinite(count) || !(clock[i] >= begins)) continue;
    if (!seen.empty() && count < seen.back().mb) seen.clear();
    if (!seen.empty() && clock[i] <= seen.back().at) {
      seen.back().mb = count;
    } else {
      seen.push_back({clock[i], count});
    }
  }
  return seen;
}

double last_rise(const std::vector<TimedValue>& seen) {
  double last = seen.front().at;
  for (size_t i = 1; i < seen.size(); ++i) {
    if (seen[i].mb > seen[i - 1].mb) last = seen[i].at;
  }
  return last;
}

}  // namespace

bool NewExamples::come_slower() const {
  return last <= 0 && pace && *pace <= kAsFast;
}

bool NewExamples::come_as_fast() const {
  return last <= 0 && pace && *pace > kAsFast;
}

double NewExamples::seen_at(double at) const {
  const auto next =
      std::lower_bound(seen.begin(), seen.end(), at,
                       [](const TimedValue& point, double when) { return point.at < when; });
  if (next == seen.begin()) return seen.front().mb;
  if (next == seen.end()) return seen.back().mb;
  const TimedValue& before = *(next - 1);
  const double share = (at - before.at) / (next->at - before.at);
  return before.mb + share * (next->mb - before.mb);
}

NewExamples new_examples(const Run& run, const std::vector<double>& clock, double begins,
                         double epoch) {
  NewExamples of;
  of.seen = count_of(run, clock, begins);
  if (of.seen.empty() || of.seen.back().mb <= 0) return {};
  const double first = of.seen.front().at;
  const double now = of.seen.back().at;
  const double last = last_rise(of.seen);
  if (now - begins >= kStoodStill * (last - begins)) of.last = last;
  of.to_see = said_last(run, kExamplesToSee);
  if (of.to_see <= 0 && run.context.examples) of.to_see = run.context.examples->value;
  if (epoch <= 0 || first - begins > kFromTheStart * epoch) return of;
  if (now - begins < kStoodStill * epoch) return of;
  const auto rate = [&of](double from, double to) {
    return (of.seen_at(to) - of.seen_at(from)) / (to - from);
  };
  const double since = now - begins - epoch;
  of.per_step = rate(now - std::clamp(since, kLeastOfPass * epoch, kMostOfPass * epoch), now);
  const double at_first = rate(first, begins + kFirstPace * epoch);
  if (at_first > 0) of.pace = of.per_step / at_first;
  return of;
}

}  // namespace plateau
