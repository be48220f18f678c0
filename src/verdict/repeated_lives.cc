// SPDX-License-Identifier: Apache-2.0
#include "verdict/repeated_lives.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "base/statistics.h"
#include "recording/outline.h"

namespace plateau {
namespace {

// Growth of the last third over that of the one before: less, and it slows down.
constexpr double kSteady = 0.6;
// Growth below these says nothing of how a life climbs.
constexpr double kClimbMb = 10;
constexpr double kClimbShare = 0.05;
// Rates of one leak differ by less from life to life, ...
constexpr double kAlike = 1.5;
// ... and where they begin by less than this share of what they grow by.
constexpr double kSameStart = 0.4;

double growth_of(const LifeOutline& life) {
  return life.mb[2] - life.mb[0];
}

double rate_of(const LifeOutline& life) {
  return growth_of(life) / (life.at[2] - life.at[0]);
}

bool climbs(const LifeOutline& life) {
  const double before = life.mb[1] - life.mb[0], after = life.mb[2] - life.mb[1];
  const double least = std::max(kClimbMb, kClimbShare * life.mb[0]);
  return before > 0 && after >= kSteady * before && growth_of(life) >= least &&
         life.at[2] > life.at[0];
}

bool repeats(const LifeOutline& life, const LifeOutline& other) {
  if (!climbs(life)) return false;
  const double faster = rate_of(life) / rate_of(other);
  const double apart = std::fabs(life.mb[0] - other.mb[0]);
  return faster <= kAlike && faster * kAlike >= 1 && apart <= kSameStart * growth_of(other);
}

std::optional<LifeOutline> outline_of_life(const Life& life, const Run& run, const Lives& lives,
                                           const std::vector<double>& clock) {
  const size_t count = life.to - life.from;
  std::optional<LifeOutline> outline =
      outline_of(std::span(clock).subspan(life.from, count),
                 std::span<const double>(lives.held).subspan(life.from, count));
  if (outline) outline->killed = killed_for_memory(run, life.from, life.to, outline->end_mb);
  return outline;
}

}  // namespace

RepeatedLives find_repeated(const Run& run, const Lives& lives, const std::vector<double>& clock) {
  RepeatedLives repeated{.lives = run.earlier.size() + lives.lives.size()};
  if (repeated.lives < kRepeatedLives) return repeated;
  const auto judged = outline_of_life(lives.lives[lives.judged], run, lives, clock);
  if (!judged || !climbs(*judged)) return repeated;
  std::vector<LifeOutline> alike;
  const auto consider = [&](const std::optional<LifeOutline>& life) {
    if (life && repeats(*life, *judged)) alike.push_back(*life);
  };
  for (const LifeOutline& life : run.earlier) consider(life);
  for (const Life& life : lives.lives) consider(outline_of_life(life, run, lives, clock));
  if (alike.size() < kRepeatedLives) return repeated;
  std::vector<double> rates, ends;
  double work = 0;
  for (const LifeOutline& life : alike) {
    rates.push_back(rate_of(life));
    ends.push_back(life.end_mb);
    work += life.length;
    repeated.killed += life.killed ? 1 : 0;
  }
  repeated.alike = alike.size();
  repeated.rate = upper_median(rates);
  repeated.end_mb = upper_median(ends);
  repeated.longer = work / judged->length;
  return repeated;
}

}  // namespace plateau
