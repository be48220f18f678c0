// SPDX-License-Identifier: Apache-2.0
// How a job comes nearer to its limit: what it will add before it can do anything about it, and
// when to look again.
//
// Question. A job that is asked to save at its limit goes on until its step ends, and until the
// next look nobody asks it. One that adds 50 MB a step is two steps past its limit by then, and
// killed by it. How early must it be asked?
//
// Method. Where steps are known, the growth of a step is the median over the last eight, if three
// quarters of them rose: neither the first steps, which allocate what later ones use again, nor an
// evaluation may count. A job is asked two such steps ahead, one that may pass before we look and
// one that it finishes before it saves. Where steps are not known, or not yet, growth counts that
// was there in each of the last three seconds, and only by what it adds until the next look: a job
// that loads its data must not be taken for one that leaks. Never more than a quarter of the limit
// is kept free: a job of a few large steps is better asked late than at once.
//
// The next look comes before half of what is left can be used up, at most every 20 ms.
//
// Worked number. A limit of 900 MB, 50 MB a step, 0.15 s a step: the job is asked from 787 MB on,
// at 837 at the latest, finishes its step with 887 and saves. At 600 MB, with 187 left at 333 MB/s,
// the next look is due after 0.28 s. At 1 MB a step it is asked from 898 MB on.
//
// Blind spot. A jump that no step before it had, and the step that a job finishes whose steps
// nobody tells. Behind both stands the cgroup's hard limit.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace plateau {

class Approach {
 public:
  static constexpr double kLeastLookSeconds = 0.02;

  // What the job holds now. `step` is the last that has ended, -1 if none is known.
  void look(double mb, double at_s, int64_t step);

  // What it may add before it reacts, at most a quarter of the limit.
  [[nodiscard]] double ahead_mb(double limit_mb) const;

  // Seconds until the next look at a job that is asked at the limit less ahead_mb(); infinity if it
  // does not come nearer.
  [[nodiscard]] double look_in_s(double limit_mb) const;

 private:
  struct Mark {
    int64_t step = 0;
    double at_s = 0;
    double mb = 0;
  };
  struct Growth {
    double mb_per_step = 0;
    double mb_per_s = 0;
  };

  [[nodiscard]] std::optional<Growth> by_steps() const;  // Nothing if no steps come.
  [[nodiscard]] Growth by_seconds() const;

  std::deque<Mark> steps_;    // The last ones that ended.
  std::deque<Mark> seconds_;  // The last seconds, a tenth apart or more.
  Mark now_;
  Growth growth_;
};

}  // namespace plateau
