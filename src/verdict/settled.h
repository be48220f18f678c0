// SPDX-License-Identifier: Apache-2.0
// "Anything at first": an irregular warm-up should neither excuse nor accuse what comes after it.
//
// The first k floors are a random walk with its own drift and scale, and only what follows is
// judged: level (bounded) or climbing (unbounded), with the noise of posterior.h. The walk's
// increments are Laplace about their median, because a warm-up is mostly small steps and a few
// large ones, which a normal distribution would drown in its variance.
//
// Worked case: 60, 150, 152, 149, then 150 to 151 for twenty floors. No smooth shape fits the first
// three; the walk pays for them, and the level tail decides.
//
// Blind spot: k is free, so a pause of a sixth of the run can pass for a settled level; the shapes
// that explain the whole run then have to outweigh it, and for a leak they do.
#pragma once

#include <vector>

#include "verdict/posterior.h"

namespace plateau {

// One floor before and four after the end of the walk.
inline constexpr size_t kFewestToSettle = 5;

// Anything at first, then level. The rows at which the walk may end share the family's weight.
// Requires, as the next: at least kFewestToSettle floors.
std::vector<WeighedFit> weigh_settled(const Weighing& weighing);

// Anything at first, then a climb that makes new highs.
std::vector<WeighedFit> weigh_settled_then_linear(const Weighing& weighing);

}  // namespace plateau
