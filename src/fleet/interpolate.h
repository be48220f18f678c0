// SPDX-License-Identifier: Apache-2.0
// A value between two samples, on the line between them.
#pragma once

#include <algorithm>
#include <vector>

#include "fleet/query_answer.h"

namespace plateau::fleet {

// Before the first and after the last sample, their values. Requires: not empty, by rising time.
inline double interpolated(const std::vector<Sample>& samples, double at_s) {
  const auto after =
      std::lower_bound(samples.begin(), samples.end(), at_s,
                       [](const Sample& sample, double at) { return sample.at_s < at; });
  if (after == samples.begin()) return samples.front().value;
  if (after == samples.end()) return samples.back().value;
  const auto before = after - 1;
  const double share = (at_s - before->at_s) / (after->at_s - before->at_s);
  return before->value + share * (after->value - before->value);
}

}  // namespace plateau::fleet
