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
// To SSE/n the square of the noise floor is added (allocator granularity, and half a percent of the
// range: no shape is exact), so that a perfect fit gains nothing over a good one. Growth
// coefficients are non-negative a priori, so the weight is multiplied by twice the posterior
// probability that they are. One-off steps cost their place: one of n rows, or one of n(n-1)/2
// pairs.
//
// Some families are fitted by other means, and compete here: settled.h and increments.h.
//
// That likelihood is believed to kBelieved only. Taken at its word it is far too sure, because no
// real run is one of these shapes with this noise: of what it gave 99 % on recorded runs, 84 % was
// true.
//
// Worked case: 17 level floors after 10 climbing ones. Linear leaves SSE/n of 10^6 MB^2, the hinge
// 2 x 10^3. The difference in log likelihood is 13 x log(500) = 81, of which 28 are believed:
// nothing else needs to be said.
//
// How often the outcome is right is measured on recorded traces, at every tenth of each:
// docs/accuracy.md.
//
// Blind spot: growth smaller than the wander of the floors over the whole run.
#pragma once

#include <span>
#include <vector>

#include "verdict/shapes.h"

namespace plateau {

// One shape at one phi with its steps, as fitted.
struct Fit {
  const FamilyRow* family = nullptr;
  double weight = 0;     // Posterior share; all fits of a posterior sum to 1.
  double parameter = 0;  // See Shape, as for the next two.
  double ends_at = 0;
  bool open_end = false;
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

// Of a log likelihood as much as is believed: no shape and no noise is quite what it is taken for,
// and floors are not as many independent facts as there are of them.
// The share was chosen so that what is said with p per cent is true in p per cent of the recorded
// runs (docs/accuracy.md); at 1, "99 %" was true in 84 of 100.
inline constexpr double kBelieved = 0.35;
inline double believed(double log_likelihood) {
  return kBelieved * log_likelihood;
}

// log(2 P(Z <= z)): what the sign of a growth coefficient z errors from zero adds to the log
// weight. Finite for every z: growth that comes out negative is not excluded, only made negligible.
double log_twice_positive(double z);

// A family's share of belief, and its best member however unlikely, for the report.
struct FamilyWeight {
  bool considered = false;
  double weight = 0;
  double log_odds = 0;  // Of its best member against the best of all; 0 for the winner.
  Fit best;
};

struct Posterior {
  std::vector<Fit> fits;  // In no particular order; negligible ones are left out.
  // One for each row of the table, in its order.
  std::vector<FamilyWeight> families = std::vector<FamilyWeight>(kFamilyCount);
  double noise_floor_mb = 0;
};

// Moves the level that every fit sees now.
void shift_level(double mb, Posterior& posterior);

// Leaves growth without end `most` of the weight if it has more, and gives the rest to the bounded
// camp: to each of its fits in proportion, or to the best of its families where all were
// negligible. False if nothing changed.
bool share_out(double most, Posterior& posterior);

// What the families that are weighed elsewhere are given.
struct Weighing {
  const FamilyRow* family = nullptr;
  double log_prior = 0;  // Of the whole family.
  const Floors& floors;
  double noise_floor_mb = 0;
  std::span<const double> phis;
};

// Requires: at least three floors; `families` outlives the result.
Posterior weigh(const Floors& floors, const Timeline& timeline, const Policy::Tuning& tuning,
                std::span<const FamilyRow> families = kFamilies);

}  // namespace plateau
