// SPDX-License-Identifier: Apache-2.0
// In which step an event happened: stamps of the moments at which steps began.
//
// Events are read some milliseconds late, so the step of an event is that of the last mark before
// its stamp, not the newest one. The last kMaxMarks are kept; what is older than the oldest counts
// as the step before it. Without marks every event is in step -1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace plateau {

class StepMarks {
 public:
  static constexpr size_t kMaxMarks = 4096;

  // Stamps and steps must not fall; what does is ignored.
  void mark(uint64_t stamp, int64_t step);

  [[nodiscard]] int32_t step_at(uint64_t stamp) const {
    if (stamp >= newest_stamp_) return newest_step_;
    return search(stamp);
  }
  [[nodiscard]] bool any() const { return !marks_.empty(); }
  [[nodiscard]] int32_t newest() const { return newest_step_; }
  [[nodiscard]] int32_t first() const { return first_step_; }

 private:
  struct Mark {
    uint64_t stamp = 0;
    int32_t step = -1;
  };
  [[nodiscard]] int32_t search(uint64_t stamp) const;

  std::deque<Mark> marks_;
  uint64_t newest_stamp_ = 0;
  int32_t newest_step_ = -1;
  int32_t first_step_ = -1;     // Of all marks ever.
  int32_t before_oldest_ = -1;  // The step before the oldest mark kept.
};

}  // namespace plateau
