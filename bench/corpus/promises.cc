// SPDX-License-Identifier: Apache-2.0
#include "promises.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "score.h"
#include "verdict/verdict.h"

namespace plateau::bench {
namespace {

struct Tally {
  size_t promised = 0;
  size_t kept = 0;
  size_t too_late = 0;         // The promised step lies beyond the trace.
  std::vector<double> errors;  // |forecast - reached| / rise
  size_t covered = 0;
};

void check_decision(const Trace& trace, const Verdict& verdict, Tally& tally) {
  if (verdict.word != Word::undecided || !verdict.decides_at_step) return;
  const plateau::Run& run = trace.run;
  size_t count = 0;
  while (count < run.instants.size() &&
         static_cast<double>(run.instants[count].step) < *verdict.decides_at_step) {
    ++count;
  }
  if (count == run.instants.size()) {
    ++tally.too_late;
    return;
  }
  ++tally.promised;
  tally.kept += judge(prefix_of(run, count + 1)).word != Word::undecided;
}

void check_forecast(const Trace& trace, const Verdict& verdict, const Verdict& end, Tally& tally) {
  if (trace.leak || end.word != Word::plateau || !end.settled || !verdict.forecast) return;
  if (verdict.word == Word::plateau) return;  // Says "level now", not "will level".
  const double rise = end.settled->mb - verdict.first_mb;
  // Only looks at which a good part of a real rise was still to come say something.
  if (rise < 0.05 * end.settled->mb || end.settled->mb - verdict.last_mb < 0.2 * rise) return;
  tally.errors.push_back(std::fabs(verdict.forecast->plateau_mb - end.settled->mb) / rise);
  tally.covered += verdict.forecast->range.low <= end.settled->mb &&
                   end.settled->mb <= verdict.forecast->range.high;
}

}  // namespace

void print_promises(const std::vector<Trace>& traces) {
  Tally tally;
  for (const Trace& trace : traces) {
    const Verdict end = judge(trace.run);
    for (int tenth = 1; tenth < 10; ++tenth) {
      const Verdict verdict = judge(first_tenths(trace.run, tenth));
      check_decision(trace, verdict, tally);
      check_forecast(trace, verdict, end, tally);
    }
  }
  fmt::print(
      "- \"decides at step N\": {} promises fell inside their trace, {} ({:.0f} %) were kept; "
      "{} lay beyond its end\n",
      tally.promised, tally.kept,
      100.0 * static_cast<double>(tally.kept) /
          static_cast<double>(std::max<size_t>(tally.promised, 1)),
      tally.too_late);
  if (tally.errors.empty()) return;
  std::sort(tally.errors.begin(), tally.errors.end());
  fmt::print(
      "- plateau forecasts with at least a fifth of the rise to come: {}; median error "
      "{:.0f} % of the rise; {:.0f} % of the 90 % intervals held the level reached\n",
      tally.errors.size(), 100 * tally.errors[tally.errors.size() / 2],
      100.0 * static_cast<double>(tally.covered) / static_cast<double>(tally.errors.size()));
}

}  // namespace plateau::bench
