// SPDX-License-Identifier: Apache-2.0
// Weighs the shapes of shapes.h against the floors: how much belief each deserves.
//
// Noise. Floors wander: pools are trimmed, a tooth sticks out. The noise is therefore first-order
// autoregressive, e_k = phi e_{k-1} + innovation, with phi on a grid from 0 (independent) to 0.98
// (nearly a random walk). At 0.98 a drift of the floors costs little, so a leak must climb more
// steadily than a random walk would before it is believed. Given phi, data and columns are whitened
// and the fit is ordinary least squares.
//
// Weight. With unit-information priors on the coefficients the marginal likelihood of n floors
// under a shape with p columns is, up to a constant common to all shapes,
//
//     -(n-1)/2 log(SSE/n) - (p-1)/2 log n + 1/2 log(1-phi^2) + log prior .
//
// SSE never counts less than the noise floor per row (allocator granularity, and half a percent of
// the range: no shape is exact). Growth coefficients are non-negative a priori, so the weight is
// multiplied by twice the posterior probability that they are. One-off steps cost their place: one
// of n rows, or one of n(n-1)/2 pairs.
//
// Two families are fitted elsewhere and weighed here: settled.h and increments.h.
//
// Worked case: 17 level floors after 10 climbing ones. Linear leaves SSE/n of 10^6 MB^2, the hinge
// 2 x 10^3. The difference in log weight is 13 x log(500) = 81: nothing else needs to be said.
//
// Because the ratio of the two camps' weights is a Bayes factor, under the bounded mixture it
// exceeds 49 with probability at most 1/49 at any time at which one cares to look (Ville). The
// mixture is a model, and floors are re-cut as a run grows, so the rate is also measured on
// recorded traces: docs/accuracy.md.
//
// Blind spot: growth smaller than the wander of the floors over the whole run.
#pragma once

#include <array>
#include <vector>

#include "verdict/shapes.h"

namespace plateau {

// One shape at one phi with its steps, as fitted.
struct Fit {
  Family family = Family::flat;
  double weight = 0;     // Posterior share; all fits of a posterior sum to 1.
  double parameter = 0;  // See Shape.
  double ends_at = 0;
  int steps = 0;         // One-off steps in it.
  double step_at = 0;    // Clock of the largest of them.
  double level_now = 0;  // Fitted floor at the last sample, MB.
  double rate = 0;       // Growth now, MB per step.
  double rate_se = 0;    // Its standard error.
  double remaining = 0;  // Rise still to come if bounded, MB.
  double sigma = 0;      // Innovation scale, MB.
  double phi = 0;
};

// A fit before its weight is known: log weight up to a constant common to all.
inline constexpr double kNone = -1e300;
struct WeighedFit {
  double log_weight = kNone;
  Fit fit;
};

// A family's share of belief, and its best member however unlikely, for the report.
struct FamilyWeight {
  bool considered = false;
  double weight = 0;
  double log_odds = 0;  // Of its best member against the best of all; 0 for the winner.
  Fit best;
};

struct Posterior {
  std::vector<Fit> fits;  // In no particular order; negligible ones are left out.
  std::array<FamilyWeight, kFamilyCount> families;
  double noise_floor_mb = 0;
};

// Requires: at least three floors.
Posterior weigh(const Floors& floors, const Timeline& timeline, const Policy::Tuning& tuning);

}  // namespace plateau
