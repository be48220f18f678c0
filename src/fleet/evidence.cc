// SPDX-License-Identifier: Apache-2.0
#include "fleet/evidence.h"

#include <algorithm>
#include <cmath>

namespace plateau::fleet {
namespace {

// Recorded traces, as drift.h has them.
constexpr double kLeaksThatClimb = 0.8;
constexpr size_t kLevelTraces = 159;

}  // namespace

double log_factor_of_climb(std::span<const SeriesVerdict> fleet) {
  size_t old = 0, falling = 0;
  for (const SeriesVerdict& each : fleet) {
    old += static_cast<size_t>(each.established);
    falling += static_cast<size_t>(each.established && each.drift.way == Drift::Way::falls);
  }
  const double by_chance =
      static_cast<double>(falling + 1) / static_cast<double>(old + kLevelTraces + 1);
  return std::log(std::min(kLeaksThatClimb / by_chance, kMostFactorOfClimb));
}

bool others_live(const std::vector<const SeriesVerdict*>& members) {
  double longest_s = 0;
  for (const SeriesVerdict* member : members) {
    if (is_killed(*member)) longest_s = std::max(longest_s, member->deaths.longest_s);
  }
  if (longest_s == 0) return false;
  return std::any_of(members.begin(), members.end(), [&](const SeriesVerdict* member) {
    return member->word != Word::leak && member->lives == 1 &&
           member->last_s - member->first_s > longest_s;
  });
}

bool is_killed(const SeriesVerdict& member) {
  return member.deaths.count >= kFewestDeaths;
}

bool climbs_of_age(const SeriesVerdict& member) {
  return member.established && member.drift.way == Drift::Way::climbs;
}

bool grows(const SeriesVerdict& member, const Peers& peers) {
  return member.word == Word::leak || (peers.others_live && is_killed(member)) ||
         climbs_of_age(member);
}

double log_factor_of(const SeriesVerdict& member, const Peers& peers) {
  double log_factor = member.log_factor;
  if (peers.others_live && is_killed(member)) {
    log_factor =
        std::max(log_factor, static_cast<double>(member.deaths.count) * std::log(kFactorOfDeath));
  }
  if (climbs_of_age(member)) log_factor = std::max(log_factor, peers.log_climb);
  return log_factor;
}

double still_filling_of(const SeriesVerdict& member, const Peers& peers) {
  // What is killed while its likes live on, or was level for a day, is no cache that fills.
  const bool none = (peers.others_live && is_killed(member)) || climbs_of_age(member);
  return none ? 0 : member.still_filling;
}

double rate_mb_per_s_of(const SeriesVerdict& member) {
  if (is_killed(member)) return member.deaths.rate_mb_per_s;
  if (climbs_of_age(member) && !(member.rate_mb_per_s > 0)) return member.drift.rate_mb_per_s;
  return member.rate_mb_per_s;
}

std::optional<double> limit_in_s_of(const SeriesVerdict& member) {
  const double rate = rate_mb_per_s_of(member);
  if (rate == member.rate_mb_per_s || !member.limit_mb) return member.limit_in_s;
  return std::max(0.0, *member.limit_mb - member.last_mb) / rate;
}

}  // namespace plateau::fleet
