// SPDX-License-Identifier: Apache-2.0
// What a fleet knows of a series besides its verdict: the others.
//
// A verdict sees one window of one series. A fleet also knows whether others of the same version
// live on where one is killed again and again (deaths.h), and how often processes that have run for
// days drift by chance (drift.h). Each may make a leak of what the verdict left open, with a Bayes
// factor of its own, that stands beside the verdict's: the larger one counts, because both look at
// the same curve.
//
// A climb of an old process is worth the share of leaks that climb so over the share of bounded
// ones that do. The latter is the share of old processes in this very fleet that fall so, with the
// 159 recorded ones of which none drifts counted in; at most kMostFactorOfClimb, for up and down
// are not alike to the last digit. Worked case: 7,000 old processes, 2 of which fall: 3 in 7,160,
// so a climb is worth 0.8 x 2,387, which is cut to 1,000. In the evening of a fleet in which 300
// fall it is worth 19.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fleet/judge_series.h"

namespace plateau::fleet {

inline constexpr double kMostFactorOfClimb = 1000;

// The natural logarithm of what a climb of an old process is worth here.
double log_factor_of_climb(std::span<const SeriesVerdict> fleet);

struct Peers {
  bool others_live = false;  // One lived on for longer than those that were killed at their limit.
  double log_climb = 0;      // log_factor_of_climb() of the fleet.
};
// Of the members of one version.
bool others_live(const std::vector<const SeriesVerdict*>& members);

bool is_killed(const SeriesVerdict& member);  // At its limit, again and again.
bool climbs_of_age(const SeriesVerdict& member);
// A leak by its own verdict, or by what is known of others.
bool grows(const SeriesVerdict& member, const Peers& peers);
double log_factor_of(const SeriesVerdict& member, const Peers& peers);
// That a cache is still filling, 0 to 1.
double still_filling_of(const SeriesVerdict& member, const Peers& peers);
double rate_mb_per_s_of(const SeriesVerdict& member);
std::optional<double> limit_in_s_of(const SeriesVerdict& member);

}  // namespace plateau::fleet
