// SPDX-License-Identifier: Apache-2.0
// Until when did the job load examples that it had not loaded before? Data, where there is a count
// of them, in place of what is usual for caches.
//
// A per-example cache and a leak are one curve during the first pass, and what ends the doubt is
// otherwise a guess about caches that take longer (shapes.h, "The deadline"). Our module inside the
// job counts distinct examples as they are drawn, per worker that lives on (gauge examples.seen,
// docs/auto.md). Once that count stands still, a cache keyed by example is full, whatever the
// length of the epoch was believed to be; growth that goes on is none of its doing. Only caches
// with other keys are left then (random crops, an lru_cache of results), and few of those fill
// evenly through the first pass and on: the deadline moves from 1.75 to 1.15 passes
// (Policy::warmup_counted).
//
// Worked case: 400 examples by 4. The count stands at 400 from step 98 (two workers draw ahead) and
// the epoch ends at step 100. At step 110 it has stood for a tenth of the pass, and the deadline is
// step 115 instead of 175: a straight climb is called a leak at about step 120.
//
// Blind spot: a cache keyed by example and epoch, or by a random augmentation, keeps growing and is
// called a leak sooner.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "recording/run.h"
#include "verdict/course.h"

namespace plateau {

inline constexpr std::string_view kExamplesSeen = "examples.seen";

// The clock of the last new example, if examples were counted and the count has stood still since
// for at least a tenth of that time. `clock` has one value per instant.
std::optional<double> last_new_example(const Run& run, const std::vector<double>& clock);

// Whether growth after `epoch` may be that of examples which are new to somebody.
//
// They come about as fast as before where passes are shorter than the data (a limit of batches per
// epoch): a cache of examples is as far from full as it was. And workers that live on have a cache
// each: with two of them, and a new order in every pass, every second example of the second pass is
// new to the worker that gets it. A cache then grows half as fast as in the first pass, a leak as
// fast as ever; nearer to the former is the former. `memory` is what is judged, by rising clock.
bool growth_follows_new_examples(const Run& run, const std::vector<double>& clock,
                                 std::span<const TimedValue> memory, double epoch);

}  // namespace plateau
