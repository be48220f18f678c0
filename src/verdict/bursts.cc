// SPDX-License-Identifier: Apache-2.0
#include "verdict/bursts.h"

#include <algorithm>
#include <cmath>

namespace plateau {
namespace {

// Odds that another burst follows, as the last one ends. One burst is a warm-up, which every job
// has; from the second on it may be a habit.
constexpr double kMoreToCome = 0.3;
constexpr size_t kHabit = 2;
// Floors that must stand still between two bursts.
constexpr size_t kPause = 2;
// A floor that rises by less than this share of the usual rise of a burst is quiet.
constexpr double kQuietShare = 0.25;
// A fall of this share of a climb ends it.
constexpr double kFallShare = 0.5;

}  // namespace

Bursts find_bursts(const Floors& floors, double least_mb) {
  Bursts bursts;
  const std::vector<double>& mb = floors.mb;
  // A rise counts from the highest floor so far: a tooth that comes back is none.
  double high = mb.empty() ? 0 : mb.front();
  double gained = 0;
  size_t quiet = kPause;
  for (size_t i = 1; i < mb.size(); ++i) {
    const double rise = mb[i] - high;
    high = std::max(high, mb[i]);
    if (rise <= kQuietShare * least_mb) {
      if (++quiet == kPause) gained = 0;
      continue;
    }
    quiet = 0;
    const bool counted = gained >= least_mb;
    gained += rise;
    if (gained < least_mb) continue;
    if (!counted) ++bursts.count;
    bursts.until = floors.at[i];
  }
  return bursts;
}

double more_to_come(const Bursts& bursts, const Floors& floors) {
  if (bursts.count < kHabit) return 0;
  const double lasted = std::max(bursts.until - floors.at.front(), 1e-9);
  const double pause = std::max(floors.now - bursts.until, 0.0);
  const double odds =
      kMoreToCome * std::pow(1 + pause / lasted, -static_cast<double>(bursts.count));
  return odds / (1 + odds);
}

double climbs_anew(const Floors& floors, double least_mb) {
  size_t low = 0, high = 0, falls = 0;
  double odds = 0;
  for (size_t i = 1; i < floors.mb.size(); ++i) {
    const double climb = floors.mb[high] - floors.mb[low];
    if (climb >= least_mb && floors.mb[high] - floors.mb[i] >= kFallShare * climb) {
      const double lasted = floors.at[i] - floors.at[low];
      const double pause = std::max(floors.now - floors.at[i], 0.0);
      odds = kMoreToCome / (1 + pause / lasted);
      ++falls;
      low = high = i;
    } else if (floors.mb[i] > floors.mb[high]) {
      high = i;
    } else if (floors.mb[i] < floors.mb[low]) {
      low = high = i;
    }
  }
  return falls == 1 ? odds / (1 + odds) : 0;
}

}  // namespace plateau
