// SPDX-License-Identifier: Apache-2.0
// The rules that people use today, for comparison: each sees the tree's PSS (or, where the trace
// has none, RSS) over steps and says leak or not. They are written from their published
// descriptions; thresholds in absolute units are theirs unless said otherwise.
#pragma once

#include <string>
#include <vector>

#include "recording/run.h"

namespace plateau::bench {

struct Curve {
  std::vector<double> at;
  std::vector<double> mb;
};
Curve tree_curve(const Run& run);

struct Rival {
  std::string name;
  bool (*says_leak)(const Curve&);
};
const std::vector<Rival>& rivals();

}  // namespace plateau::bench
