// SPDX-License-Identifier: Apache-2.0
// One series in, what is kept of it out: at most a kilobyte, whatever it was (closeup.h has the
// exception).
//
// A series is judged twice at most. First as if the load were known to be level: whoever is no
// suspect then is none with less knowledge either, and that is nearly everybody. Of suspects the
// load is asked for (daily_load.h, or the work that they did), and they are judged again with it;
// or without any, and then the verdict holds a climb of less than half a day back as undecided.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/daily_load.h"
#include "fleet/deaths.h"
#include "fleet/drift.h"
#include "fleet/life_series.h"
#include "verdict/verdict.h"

namespace plateau::fleet {

// What a series is of.
struct SeriesName {
  std::string cluster;
  std::string space;      // Namespace; may be empty.
  std::string workload;   // Never empty.
  std::string container;  // May be empty.
  std::string version;    // May be empty.
  std::string member;     // Its pod, instance, ...
};

inline constexpr size_t kSparkPoints = 24;

struct Closeup;  // closeup.h

struct SeriesVerdict {
  SeriesName name;
  Word word = Word::undecided;
  double confidence = 0;
  // Of a Bayes factor for a leak, the logarithm. Where the verdict is a leak, half of the factor is
  // that of the shapes alone (Verdict::LeakOdds) and half what the word itself is worth,
  // kFactorOfWord; elsewhere it is that of the verdict.
  double log_factor = 0;
  double still_filling = 0;  // Probability that, if it grows, it is a cache that will be full.
  double rate_mb_per_s = 0;
  double last_mb = 0;
  std::optional<double> limit_mb;
  std::optional<double> limit_in_s;  // At that rate; only of what grows.
  double first_s = 0;                // Of its samples, since 1970.
  double last_s = 0;
  size_t samples = 0;
  size_t lives = 1;
  Deaths deaths;             // Whatever the word is; evidence.h weighs both by what others do.
  bool established = false;  // It ran a day before the window began, and all through.
  Drift drift;               // Of what is established, without the day's wave.
  bool held_back = false;    // It would be a leak if the load were known not to explain it.
  LoadSource load = LoadSource::none;
  bool new_version = false;                 // As in KnownLoad.
  std::array<float, kSparkPoints> spark{};  // MB, evenly over its samples; NaN where there is none.
  std::shared_ptr<const Closeup> closeup;   // Only if a report is wanted and it may be listed.
};

struct JudgedSeries {
  LifeSeries series;
  SeriesName name;
  std::optional<double> limit_mb;
  Metric kind = Metric::memory;
  double begin_s = 0;        // Of the window.
  bool established = false;  // One life, that began a day before that or earlier.
};

// What the score means in a fleet, set on recorded traces stretched over six hours (corpus/dev,
// own, fit and calibrate; whole ones, and of bounded ones the part after their growth ended). 233
// of 396 leaks are called one, and 1 of 445 that are bounded; with one more of those, a leak is 131
// times likelier to be. And the odds of the shapes, which are tempered for runs that have just
// begun, may be raised to this power: their mean over the bounded traces is 0.5 then, and 1 is what
// a Bayes factor may have.
inline constexpr double kFactorOfWord = 131;
inline constexpr double kPowerOfOdds = 1.5;

// Fewer samples than this are not judged at all.
inline constexpr size_t kFewestSamples = 10;

// As if the load were known to be level.
SeriesVerdict judge_at_level_load(const JudgedSeries& judged);
// Worth asking for its load?
bool is_suspect(const SeriesVerdict& verdict);

// What is known of the load.
struct KnownLoad {
  LoadSource source = LoadSource::none;
  std::vector<Sample> wave;  // Of a day: to be taken off (daily_load.h).
  std::vector<Sample> work;  // Per second: the verdict sees what follows it.
  bool new_version = false;  // The day before, its workload ran another version, which was level.
};
// Known to be level.
KnownLoad level_load(const JudgedSeries& judged);
SeriesVerdict judge_under_load(const JudgedSeries& judged, const KnownLoad& load);
// What is judged there.
Run run_under_load(const JudgedSeries& judged, const KnownLoad& load);

}  // namespace plateau::fleet
