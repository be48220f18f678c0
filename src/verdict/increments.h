// SPDX-License-Identifier: Apache-2.0
// Growth as a series of random steps: do they keep coming, or do they grow rarer?
//
// The shapes of shapes.h are smooth curves with noise around them. Much real growth is not: a block
// is kept now and then, of varying size, and nothing is given back. Around a line such a staircase
// looks like strongly correlated noise, and a leak drowns in it. Its increments tell more: they are
// never much below zero, and under a leak they come at the same rate throughout, while a high-water
// mark, a filling cache or a warm-up makes them smaller and rarer.
//
// Model. The increment between two floors has an asymmetric Laplace density: scale b below zero
// (noise) and b + m(t) above it, where m is the mean growth per floor. Unbounded: m constant
// ("random steps"). Bounded: m falls as exp(-t/tau) or 1/(1+t/c), or is zero from some floor on
// ("slowing steps"). b and the height of m are averaged over short grids, so both sides pay the
// same for them.
//
// Worked case: 27 increments, six of them near 10 MB at irregular places, the rest zero. Constant m
// of 2.2 MB: log density -55. Stopping after the last jump but one and a half runs back: -58, and
// so on; the two camps differ by little until the jumps either go on or stay away, as they should.
//
// Blind spot: a regular climb, where the size of each increment is informative; the linear shapes
// see that.
#pragma once

#include <vector>

#include "verdict/posterior.h"

namespace plateau {

// Bounded: steps that grow smaller or rarer, or have stopped.
std::vector<WeighedFit> weigh_slowing_steps(const Weighing& weighing);

// Unbounded: steps that keep coming.
std::vector<WeighedFit> weigh_random_steps(const Weighing& weighing);

}  // namespace plateau
