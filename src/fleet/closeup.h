// SPDX-License-Identifier: Apache-2.0
// The report behind a finding: the curve of its fastest member, judged by itself once more.
//
// A round keeps a kilobyte of each series, because there are thousands. Of what may be listed it
// keeps the samples too, if a page is wanted, so that whoever doubts a line of the list sees the
// curve that it stands on, what explains it, and what else does. Judging is deterministic: the
// report has the word that the round had.
#pragma once

#include <string>
#include <vector>

#include "fleet/judge_series.h"

namespace plateau::fleet {

// Of one series: what was judged, under which load.
struct Closeup {
  JudgedSeries judged;
  KnownLoad load;
};

// Some 13 kB each for six hours at 30 s: 13 MB, whatever the fleet is.
inline constexpr size_t kMostCloseups = 1000;

// Gives `verdict` its closeup if it may be in the list.
void keep_closeup(JudgedSeries judged, KnownLoad load, SeriesVerdict& verdict);

// Takes closeups away, those with the least evidence first, until at most `most` are left.
void keep_surest_closeups(std::vector<SeriesVerdict>& verdicts, size_t most);

// The chart as SVG, and the report as a terminal shows it, without colour.
struct CloseReport {
  Word word = Word::undecided;
  std::string chart;
  std::string text;
};
CloseReport report_of(const Closeup& closeup);

}  // namespace plateau::fleet
