// SPDX-License-Identifier: Apache-2.0
#include "heap/step_marks.h"

#include <algorithm>

namespace plateau {

void StepMarks::mark(uint64_t stamp, int64_t step) {
  const auto clipped = static_cast<int32_t>(std::clamp<int64_t>(step, 0, INT32_MAX));
  if (any() && (stamp < newest_stamp_ || clipped <= newest_step_)) return;
  if (!any()) first_step_ = clipped;
  if (marks_.size() == kMaxMarks) {
    before_oldest_ = marks_.front().step;
    marks_.pop_front();
  }
  marks_.push_back({stamp, clipped});
  newest_stamp_ = stamp;
  newest_step_ = clipped;
}

int32_t StepMarks::search(uint64_t stamp) const {
  const auto after =
      std::upper_bound(marks_.begin(), marks_.end(), stamp,
                       [](uint64_t value, const Mark& mark) { return value < mark.stamp; });
  return after == marks_.begin() ? before_oldest_ : std::prev(after)->step;
}

}  // namespace plateau
