// SPDX-License-Identifier: Apache-2.0
// The clock of new examples: how far the job is with loading what it had not loaded before. Data,
// where there is a count of them, in place of what is usual for caches.
//
// A per-example cache and a leak are one curve during the first pass, and what ends the doubt is
// otherwise a guess about caches that take longer (shapes.h, "The deadline"). Our module inside the
// job counts distinct examples as they are drawn, for each worker that lives on (gauge
// examples.seen, docs/auto.md). A cache keyed by example grows by that count and by nothing else; a
// leak grows by steps. During the first pass the two clocks run alike. A tenth of a pass later they
// have parted, where they part at all:
//
//   the count stands still   Every example has been seen: such a cache is full.
//   it goes on more slowly   Workers that live on have a cache each, and with two of them and a new
//                            order in every pass every second example of the second pass is new to
//                            the worker that gets it. Such a cache grows half as fast then, and is
//                            full when the count has come to examples x workers; a leak grows as
//                            fast as ever. Samplers that draw with replacement slow down likewise.
//   it goes on as fast       Passes are shorter than the data. Nobody can tell, and nobody does.
//
// So the count is a column that a fit may follow (Basis::new_examples), with an end that is known;
// and once it runs at another pace than the steps do, growth that goes on at the old pace is none
// of a cache of examples. Only caches with other keys are left to wait for (random crops, an
// lru_cache of results), and few of those fill evenly through the first pass and on: the deadline
// moves from 1.75 to 1.15 passes (Policy::warmup_counted).
//
// Worked case: 400 examples by 4. The count stands at 400 from step 98 (two workers draw ahead) and
// the epoch ends at step 100. At step 110 it has stood for a tenth of the pass, and the deadline is
// step 115 instead of 175: a straight climb is called a leak at about step 120. The same with two
// workers that live on: at step 125 the count is 450 of 800. 2 MB a step, then 1 MB a step is a
// cache, and ends at 1,600 MB; 2 MB a step throughout is a leak.
//
// Blind spot: a cache keyed by example and epoch, or by a random augmentation, keeps growing and is
// called a leak sooner. With many workers that live on, new examples come nearly as fast in the
// second pass as in the first (7 of 8 with eight), and the two stay one curve for longer.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "recording/run.h"
#include "verdict/course.h"

namespace plateau {

inline constexpr std::string_view kExamplesSeen = "examples.seen";
// How many there are to see: examples, times the workers that live on.
inline constexpr std::string_view kExamplesToSee = "examples.to_see";

struct NewExamples {
  std::vector<TimedValue> seen;  // The count, by rising clock; empty if there is none.
  double last = 0;  // Clock of the last, if none has come for a tenth of the time until it; else 0.
  double to_see = 0;           // What the count can come to; 0 if unknown.
  double per_step = 0;         // How fast they come now, per unit of the clock.
  std::optional<double> pace;  // The same, as a share of what it was in the first pass; empty until
                               // a tenth of a pass after it, or if it was not seen.

  // They come, but as the pace of steps does not: the two clocks have parted.
  [[nodiscard]] bool come_slower() const;
  // No more come, or more slowly: what goes on growing as before is no cache of examples.
  [[nodiscard]] bool tell_apart() const { return last > 0 || come_slower(); }
  // They come about as fast as in the first pass: it was none over all examples.
  [[nodiscard]] bool come_as_fast() const;
  // The count at a moment, between readings by interpolation. Requires: `seen` is not empty.
  [[nodiscard]] double seen_at(double at) const;
};

// What is counted since `begins`, where passes are `epoch` long. `clock` has one value per instant.
NewExamples new_examples(const Run& run, const std::vector<double>& clock, double begins,
                         double epoch);

}  // namespace plateau
