// SPDX-License-Identifier: Apache-2.0
// Scores a judge on traces the way corpus/README.md says: at the end, and at every tenth from 30 %
// on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trace.h"
#include "verdict/verdict.h"

namespace plateau::bench {

inline constexpr int kFirstTenth = 3;
inline constexpr double kCountsFromMb = 10;  // A leak that added less may be missed.

using Judge = std::function<Word(const Run&)>;

// The words at 30 %, 40 %, ... 100 % of one trace.
struct TraceScore {
  const Trace* trace = nullptr;
  std::vector<Word> words;

  [[nodiscard]] Word at_end() const { return words.back(); }
  [[nodiscard]] bool alarmed() const;      // Called leak at some tenth.
  [[nodiscard]] bool called_fine() const;  // Called plateau or warming at some tenth.
  // The earliest tenth from which it stays `leak`, as a share of the trace; 2 if never.
  [[nodiscard]] double detected_at() const;
};

struct Score {
  size_t leaks = 0;  // That added enough to count.
  size_t found = 0;  // Of those, called leak at the end.
  size_t small_found = 0;
  size_t plateaus = 0;
  size_t false_leaks = 0;  // Plateaus called leak at the end.
  size_t alarmed = 0;      // Plateaus called leak at some tenth.
  size_t settled = 0;      // Plateaus called plateau or warming at the end.
  size_t lost = 0;         // Leaks that count, called plateau or warming at the end.
  double median_detection = 0;

  [[nodiscard]] double precision() const;
  [[nodiscard]] double recall() const;
  [[nodiscard]] double f1() const;
};

std::vector<TraceScore> judge_all(const std::vector<Trace>& traces, const Judge& judge);
Score add_up(const std::vector<TraceScore>& scores);

// "??LLLLLL": one letter a tenth, P plateau, w warming, L leak, ? undecided.
std::string letters(const TraceScore& score);

}  // namespace plateau::bench
