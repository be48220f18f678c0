// SPDX-License-Identifier: Apache-2.0
// What the verdict would have been along the run, at a bounded number of moments: when did it know?
//
// replay() judges every prefix; for a page a few dozen moments are enough, if they stand where
// something happens. Evenly spaced moments come first; then the gaps in which the word changes are
// halved until they are one sample wide or the moments are used up.
#pragma once

#include <cstddef>
#include <vector>

#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

// By rising length of prefix; the last is the whole run. At most `moments`, at least 1.
std::vector<Verdict> hindsight(const Run& run, size_t moments, const Policy& policy = {});

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
// Until the planned end, or a third of the run beyond its last sample. Empty band if the run has
// settled or holds too little data.
Fan look_ahead(const Run& run, const Policy& policy = {});

}  // namespace plateau
