// SPDX-License-Identifier: Apache-2.0
// Looking back and ahead from the end of a run: when did it know, and where does it lead?
//
// Back. replay() judges every prefix; for a page a few dozen moments are enough, if they stand
// where something happens. At most seven in eight are spaced evenly, a power of two apart, so that
// a run that grew is asked for the moments it was asked for before; then the gaps in which the
// word changes are halved, all at once, until they are one sample wide or the moments are used up.
// Where they do not suffice for every change, the later ones are served first: they say when it
// knew.
//
// Worked number: 8,192 instants and 96 moments. 65 even ones stand 128 instants apart; a change of
// the word is pinned to one instant by 7 more, so four changes are. Each moment is exactly
// judge(prefix_of(run, n)). A hundred samples later the first 64 are the same and only the whole
// run is judged anew.
//
// Blind spot: a word that changes and changes back between two even moments is not seen. It can
// have held for 2.5 % of the run at most.
//
// Ahead. Every fit of the posterior is continued from the last sample, with its own uncertainty,
// and at each of 60 places on the clock the fits are pooled by weight: 5 %, 50 % and 95 % are the
// band. A bounded fit rises by what it has left, in a straight line if its end is known, else the
// slower the less is left; an unbounded one goes on at its rate.
//
// Worked number: the production log at step 70, 663 examples / 8, planned until step 240. A leak
// (62 % with its bent variants) and a cache that fills until step 83 (38 %) agree until there: at
// step 81 the band is 17.3 to 17.9 GB. Then they part: at step 130, as far ahead as the run is
// long, it reaches from 17.7 to 26.4 GB.
//
// Blind spot: a fit knows one rate. Growth that accelerates is continued at its present rate, and
// growth per evaluation as a slope through the stairs.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

// Verdicts on prefixes of a run, without their plots, by number of instants.
using PrefixVerdicts = std::map<size_t, Verdict>;

// By rising length of prefix; the last is the whole run. At most `moments`, at least 1. Those that
// `known` holds are taken from there, and it holds all of them afterwards. Requires: they were
// judged by the same policy on a run that begins like this one.
std::vector<Verdict> hindsight(const Run& run, size_t moments, const Policy& policy = {},
                               PrefixVerdicts* known = nullptr);

// The clock from which the word no longer changed; empty if the last word is `undecided`.
std::optional<double> knew_at(std::span<const Verdict> moments);

// Where the explanations lead beyond the last sample.
struct FanPoint {
  double at = 0;  // On the run's clock.
  double low_mb = 0;
  double mid_mb = 0;
  double high_mb = 0;
};
struct FanPath {
  std::string name;  // Of the explanation.
  std::vector<PlotPoint> points;
};
struct Fan {
  std::vector<FanPoint> band;  // 90 % of all explanations, pooled by weight.
  std::vector<FanPath> paths;  // The likeliest bounded and the likeliest unbounded ones.
};
// A verdict with what a picture of it shows.
struct Judged {
  Verdict verdict;
  // Until the planned end, but no farther than the run is long; or, where no end is planned, a
  // third of the run beyond its last sample. Empty band if the run has settled or holds too little
  // data.
  Fan ahead = {};
  // As it was judged: the lowest of each of a few dozen stretches, then the last sample.
  std::vector<PlotPoint> floor = {};
};
// judge(run), at the price of one judgement.
Judged judge_ahead(const Run& run, const Policy& policy = {});

// The broken lines of every picture: the likeliest bounded and the likeliest unbounded explanation
// of at least 5 % weight, from the last floor to `until`. Only finite points.
std::vector<FanPath> paths_ahead(const Verdict& verdict, double until);

}  // namespace plateau
