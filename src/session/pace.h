// SPDX-License-Identifier: Apache-2.0
// How often to sample: often at first, so that a job of ten seconds can be judged; once a second
// later, where nothing happens faster that a verdict needs.
//
// Interval = elapsed / 400, between 0.1 s and 1 s: after 40 s it begins to stretch, after 400 s it
// is a second. A job of 10 s then has 100 samples, one of a minute about 450. Where the job says
// its steps, a sample is taken right after one (the same moment of each step is compared), as soon
// as half the interval has passed.
#pragma once

#include <algorithm>

namespace plateau {

class Pace {
 public:
  static constexpr double kLeastSeconds = 0.1;
  static constexpr double kMostSeconds = 1.0;

  // `fixed_s` > 0 overrides.
  explicit Pace(double fixed_s = 0) : fixed_s_(fixed_s) {}

  [[nodiscard]] double interval_s(double elapsed_s) const {
    return fixed_s_ > 0 ? fixed_s_ : std::clamp(elapsed_s / 400, kLeastSeconds, kMostSeconds);
  }
  [[nodiscard]] double next_s(double now_s) const { return last_s_ + interval_s(now_s); }
  [[nodiscard]] bool due(double now_s) const { return last_s_ < 0 || now_s >= next_s(now_s); }
  [[nodiscard]] bool due_after_step(double now_s) const {
    return last_s_ < 0 || now_s >= last_s_ + interval_s(now_s) / 2;
  }
  void sampled(double now_s) { last_s_ = now_s; }

 private:
  double fixed_s_;
  double last_s_ = -1;
};

}  // namespace plateau
