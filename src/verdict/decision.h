// SPDX-License-Identifier: Apache-2.0
// One series in, one word out: the sequential rule on top of the posterior.
//
// Every fit that carries weight says something about the future: it grows on at some rate, it is
// level, or it will rise by so much and stop. Adding the weights gives three probabilities:
//
//   leak     unbounded growth at a rate that matters
//   level    nothing left to come that matters
//   warming  bounded, with a rise still to come
//
// A rate matters if keeping it up for as long again as was observed would add 1 % of the level, or
// 2 MB: below that lie allocator granularity and nobody's interest. The word is then
//
//   leak       P(leak) >= 1 - false_leak, past the warm-up deadline
//   plateau    P(level) >= 1 - false_plateau
//   warming    P(leak) <= false_plateau, but not level yet
//   undecided  otherwise, and always with fewer than six samples
//
// Worked case: the production log of the manual, step 70 of 83: linear 0.40, still filling 0.38,
// accelerating twins the rest: P(leak) = 0.5, P(warming) = 0.5: undecided. At step 110: hinge at
// step 83 0.97, P(level) = 0.98: plateau.
//
// Blind spot: the two camps start even. Whoever knows that leaks are rare in their code may read
// `undecided` as `probably fine`, but the tool does not do it for them.
#pragma once

#include "verdict/posterior.h"
#include "verdict/verdict.h"

namespace plateau {

// Fewer samples than this decide nothing: any curve fits them.
inline constexpr size_t kMinSamples = 6;
inline constexpr double kMaterialShare = 0.01;
inline constexpr double kMaterialMb = 2.0;
inline constexpr double kLeakBaseRate = 1.0 / 3;
inline constexpr double kToleratedShare = 0.02;
inline constexpr double kToleratedOfRange = 0.03;

struct Decision {
  Word word = Word::undecided;
  double confidence = 0;  // Probability of the word; for `undecided`, of the likelier camp.
  double leak = 0;
  double base_leak = 0;
  double level = 0;
  double warming = 0;
  double material_rate = 0;  // MB per step.
  double material_mb = 0;    // The same over the span observed.
  double tolerated_rate = 0;  // What a plateau may still creep by, MB per step.
  double tolerated_mb = 0;    // The same over the span observed.
  bool enough = false;       // At least kMinSamples.
  Floors floors;
  Posterior posterior;       // Empty if there are fewer than three floors.
};

// `reference_mb` is the level against which growth matters: that of the whole tree, so that a small
// component is not judged by its own small size.
Decision decide(const std::vector<TimedValue>& points, const Timeline& timeline,
                const Policy& policy, double reference_mb);

// Rates of the posterior's unbounded fits, pooled: mean and 90 % interval, MB per step.
struct PooledRate {
  double mean = 0;
  Interval range;
};
PooledRate pooled_rate(const Posterior& posterior, bool unbounded_only);

}  // namespace plateau
