// SPDX-License-Identifier: Apache-2.0
#include "promises.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "score.h"
#include "verdict/verdict.h"

namespace plateau::bench {
namespace {

struct Kept {
  size_t said = 0;      // Inside the trace.
  size_t kept = 0;      // Decided by then, at one of the looks until there.
  size_t too_late = 0;  // The step lies beyond the trace.
};

struct Tally {
  Kept earliest;
  Kept promised;
  std::vector<double> errors;  // |forecast - reached| / rise
  size_t covered = 0;
};

// Between a look and what it said are so many others.
constexpr size_t kLooksUntil = 12;

// The word after so many instants of a trace. Many promises of a trace ask for the same ones.
class Words {
 public:
  explicit Words(const plateau::Run& run) : run_(run), known_(run.instants.size() + 1) {}

  Word after(size_t instants) {
    std::optional<Word>& word = known_[instants];
    if (!word) word = judge(prefix_of(run_, instants)).word;
    return *word;
  }

 private:
  const plateau::Run& run_;
  std::vector<std::optional<Word>> known_;
};

void check_step(const Trace& trace, const Verdict& verdict, std::optional<double> step,
                Words& words, Kept& kept) {
  if (verdict.word != Word::undecided || !step) return;
  const plateau::Run& run = trace.run;
  size_t count = 0;
  while (count < run.instants.size() && static_cast<double>(run.instants[count].step) < *step) {
    ++count;
  }
  if (count == run.instants.size()) {
    ++kept.too_late;
    return;
  }
  ++kept.said;
  const size_t now = std::min<size_t>(verdict.samples, count);
  for (size_t look = 1; look <= kLooksUntil; ++look) {
    const size_t until = now + (count + 1 - now) * look / kLooksUntil;
    if (words.after(until) == Word::undecided) continue;
    ++kept.kept;
    return;
  }
}

void print_kept(const char* what, const Kept& kept) {
  fmt::print(
      "- {}: {} fell inside their trace, {} ({:.0f} %) were decided by then; {} lay beyond its "
      "end\n",
      what, kept.said, kept.kept,
      100.0 * static_cast<double>(kept.kept) / static_cast<double>(std::max<size_t>(kept.said, 1)),
      kept.too_late);
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
    Words words(trace.run);
    for (int tenth = 1; tenth < 10; ++tenth) {
      const Verdict verdict = judge(first_tenths(trace.run, tenth));
      check_step(trace, verdict, verdict.decides_at_step, words, tally.earliest);
      check_step(trace, verdict, verdict.known_by_step, words, tally.promised);
      check_forecast(trace, verdict, end, tally);
    }
  }
  print_kept("promises \"by step N\"", tally.promised);
  print_kept("\"step N at the earliest\", which is none", tally.earliest);
  if (tally.errors.empty()) return;
  std::sort(tally.errors.begin(), tally.errors.end());
  fmt::print(
      "- plateau forecasts with at least a fifth of the rise to come: {}; median error "
      "{:.0f} % of the rise; {:.0f} % of the 90 % intervals held the level reached\n",
      tally.errors.size(), 100 * tally.errors[tally.errors.size() / 2],
      100.0 * static_cast<double>(tally.covered) / static_cast<double>(tally.errors.size()));
}

}  // namespace plateau::bench
