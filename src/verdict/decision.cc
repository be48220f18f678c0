// SPDX-License-Identifier: Apache-2.0
#include "verdict/decision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/statistics.h"
#include "verdict/bursts.h"
#include "verdict/largest_cache.h"

namespace plateau {
namespace {

// Looked at again at these shares of the run; more of them would only cost time. Those of a moment
// ago count if hardly anything has been lost since: one look may be the chance that is looked for.
constexpr std::array<double, 3> kEarlierLooks = {0.9, 0.8, 0.7};
constexpr std::array<double, 2> kLatestLooks = {0.98, 0.95};
constexpr double kHardlyLess = 0.03;
// Odds beyond e^50 say nothing more, and sums of them stay finite.
constexpr double kMostLogOdds = 50;

// P(rate > threshold), given that it is positive, which it is with P = `positive`.
double rate_exceeds(const Fit& fit, double threshold, double positive) {
  if (fit.rate_se <= 0) return fit.rate > threshold ? 1.0 : 0.0;
  const double above = normal_cdf((fit.rate - threshold) / fit.rate_se);
  return std::min(1.0, above / std::max(positive, 1e-12));
}

// Adds the weights up twice: with even camps for the accusation, at the base rate for the
// all-clear.
void add_up(Decision& decision) {
  const double odds = kLeakBaseRate / (1 - kLeakBaseRate);
  double total = 0;
  decision.leak = decision.base_leak = decision.level = decision.warming = 0;
  for (const Fit& fit : decision.posterior.fits) {
    if (fit.family->bounded) {
      total += fit.weight;
      (fit.remaining > decision.tolerated_mb ? decision.warming : decision.level) += fit.weight;
    } else {
      const double positive = normal_cdf(fit.rate / fit.rate_se);
      const double matters = rate_exceeds(fit, decision.material_rate, positive);
      total += fit.weight * odds;
      decision.leak += fit.weight * matters;
      decision.base_leak += fit.weight * odds * matters;
      decision.level += fit.weight * odds * (1 - rate_exceeds(fit, decision.creep_rate, positive));
    }
  }
  decision.base_leak /= total;
  decision.level /= total;
  decision.warming /= total;
}

// Adds two weights that are given as logarithms.
double log_sum(double a, double b) {
  const double high = std::max(a, b);
  return high <= kNone ? kNone : high + std::log(std::exp(a - high) + std::exp(b - high));
}

// The log weight of a family: of all its fits, or of its best one where all are negligible and were
// left out. `best` is the weight of the best fit of all, to which log odds refer.
double log_weight(const FamilyWeight& family, double best) {
  if (!family.considered) return kNone;
  return family.weight > 0 ? std::log(family.weight) : family.log_odds + std::log(best);
}

// Growth makes new highs. A floor that was as high before is a sawtooth's or a phase's, not a
// leak's.
bool makes_new_highs(const Decision& decision) {
  const std::vector<double>& mb = decision.floors.mb;
  const auto recent = mb.end() - static_cast<std::ptrdiff_t>(mb.size() / 3 + 1);
  const double before = *std::max_element(mb.begin(), recent);
  return *std::max_element(recent, mb.end()) > before;
}

// The middle of each quarter lies above that of the one before.
bool climbs_throughout(const std::vector<double>& mb) {
  constexpr size_t kParts = 4;
  if (mb.size() < 2 * kParts) return false;
  double before = -std::numeric_limits<double>::infinity();
  for (size_t part = 0; part < kParts; ++part) {
    const auto begin = mb.begin() + static_cast<std::ptrdiff_t>(part * mb.size() / kParts);
    const auto end = mb.begin() + static_cast<std::ptrdiff_t>((part + 1) * mb.size() / kParts);
    std::vector<double> quarter(begin, end);
    const double middle = upper_median(quarter);
    if (middle <= before) return false;
    before = middle;
  }
  return true;
}

// Weight of growth without end, however slow.
double endless_weight(const Posterior& posterior) {
  double weight = 0;
  for (const Fit& fit : posterior.fits) {
    if (!fit.family->bounded && fit.rate > 0) weight += fit.weight;
  }
  return weight;
}

double unbounded_weight(const Posterior& posterior) {
  double weight = 0;
  for (const Fit& fit : posterior.fits) weight += fit.family->bounded ? 0 : fit.weight;
  return weight;
}

double believed_endless(const Decision& decision) {
  return believed_of(unbounded_weight(decision.posterior),
                     static_cast<double>(samples_of(decision)));
}

// The same of growth without end that matters.
double believed_leak(const Decision& decision) {
  const double weight = unbounded_weight(decision.posterior);
  return weight > 0 ? decision.leak * believed_endless(decision) / weight : 0;
}

// What the all-clear may be believed at most, whatever the fit says.
double most_believed(const Decision& decision, const Timeline& timeline) {
  const std::vector<TimedValue>& opened = decision.floors.opened;
  const auto samples = static_cast<double>(samples_of(decision));
  const bool brief =
      timeline.is_stretch ||
      (timeline.in_seconds && decision.floors.now - opened.front().at < kShortestSeconds);
  const double burst_mb = std::max(decision.tolerated_mb, kBurstOfRange * decision.floors.range_mb);
  const Bursts bursts = find_bursts(decision.floors, burst_mb);
  return std::min({brief ? kMostIfBrief : 1.0, 1 - kUnseen / samples,
                   1 - more_to_come(bursts, decision.floors),
                   1 - climbs_anew(decision.floors, burst_mb)});
}

// How likely the likelier camp of an open question is.
double likelier_camp(const Decision& decision, const Timeline& timeline) {
  return std::max(decision.leak, std::min(most_believed(decision, timeline), 1 - decision.leak));
}

void choose_word(Decision& decision, const Timeline& timeline, const Policy& policy) {
  const double age =
      (decision.floors.now - timeline.begins) / (timeline.deadline - timeline.begins);
  const bool beyond = beyond_any_cache(decision.floors, timeline.largest_cache_mb);
  const bool old_enough = age >= kEarliestLeak || beyond;
  if (!decision.enough) return;
  // Beyond any cache nothing is left that more samples could show to end.
  const double leak = beyond ? decision.leak : believed_leak(decision);
  const bool leaks_on = old_enough && makes_new_highs(decision);
  const bool too_few = !beyond && samples_of(decision) < kMinSamplesOfLeak;
  decision.short_of_leak = too_few && leaks_on && decision.leak >= 1 - policy.false_leak;
  if (leaks_on && !too_few && leak >= 1 - policy.false_leak) {
    decision.word = Word::leak;
    decision.confidence = decision.leak;
    return;
  }
  const double most = most_believed(decision, timeline);
  const bool early = timeline.in_seconds &&
                     decision.floors.now - decision.floors.at.front() < kShortestWarmingSeconds;
  const double fine = std::min(early ? std::min(most, kMostIfBrief) : most, 1 - decision.base_leak);
  if (std::min(most, decision.level) >= 1 - policy.false_plateau) {
    decision.word = Word::plateau;
    decision.confidence = std::min(most, decision.level);
  } else if (fine >= 1 - policy.false_plateau) {
    decision.word = Word::warming;
    decision.confidence = fine;
  } else {
    decision.word = Word::undecided;
    decision.confidence = likelier_camp(decision, timeline);
  }
}

// Growth that a plateau is seen to have, and that is too little to matter so far: would it be too
// much by the time at which a run has shown itself?
bool matters_later(const Decision& decision, const Timeline& timeline) {
  const double ahead = timeline.deadline - decision.floors.now;
  return pooled_rate(decision.posterior, true).mean * ahead > decision.tolerated_mb;
}

// Nothing tells the load, and it has not been seen to come and go either.
bool may_be_load(const Decision& decision, const Timeline& timeline) {
  if (decision.floors.now >= timeline.one_climb_until) return false;
  if (beyond_any_cache(decision.floors, timeline.largest_cache_mb)) return false;
  const auto under_waves = static_cast<size_t>(Family::linear_under_waves);
  return decision.posterior.families[under_waves].weight < 0.5;
}

Decision decide_now(const std::vector<TimedValue>& points, const Timeline& timeline,
                    const Policy& policy, double reference_mb) {
  Decision decision;
  decision.floors = find_floors(points, policy.tuning.floors);
  decision.enough = points.size() >= kMinSamples;
  decision.leak_takes = 1 - policy.false_leak;
  if (decision.floors.at.size() < 3) return decision;
  const double level = std::max(decision.floors.level_mb, reference_mb);
  const double span = std::max(decision.floors.now - decision.floors.at.front(), 1e-9);
  decision.material_mb =
      std::max(std::min(kMaterialShare * level, kSurelyMaterialMb + kSurelyMaterialShare * level),
               kMaterialMb);
  decision.material_rate = decision.material_mb / span;
  decision.tolerated_mb = std::max(
      {kToleratedShare * level, kToleratedMb, kToleratedOfRange * decision.floors.range_mb});
  decision.tolerated_rate = decision.tolerated_mb / span;
  decision.posterior = weigh(decision.floors, timeline, policy.tuning);
  if (may_be_load(decision, timeline)) share_out(kMostWhileLoad, decision.posterior);
  decision.creep_rate = decision.tolerated_rate;
  const double strict =
      std::min(decision.tolerated_mb,
               std::max({kMostCreepMb, kMostCreepShare * level, decision.material_mb}));
  // From even odds to nine to one the one goes over into the other: a switch would flip the word.
  const double sure =
      std::clamp((endless_weight(decision.posterior) - 0.5) / (kByFarLikelier - 0.5), 0.0, 1.0);
  // Growth that is seen, and not only possible, is looked at over as long as a run takes to show
  // itself: ten steps again are no time in which anything could matter.
  const double ahead = std::max(span, timeline.deadline - timeline.begins);
  decision.creep_rate = (1 - sure) * decision.tolerated_rate + sure * strict / ahead;
  add_up(decision);
  choose_word(decision, timeline, policy);
  decision.endless = endless_weight(decision.posterior);
  if (creeps(decision) && matters_later(decision, timeline)) {
    decision.word = Word::undecided;
    decision.confidence = likelier_camp(decision, timeline);
  }
  return decision;
}

// Growing to new highs past the deadline, with most of the weight on growth without end, and yet
// not a leak: the weight is not quite enough, or the rate is about as small as one that matters,
// and falls to the one or the other side of it with every sample.
bool wavers(const Decision& decision, const Timeline& timeline) {
  if (decision.word == Word::leak || !decision.enough) return false;
  return endless_weight(decision.posterior) >= kHoldsAt &&
         decision.floors.now >= timeline.deadline && makes_new_highs(decision);
}

// The decision at an earlier moment of the same run.
class EarlierLooks {
 public:
  EarlierLooks(const std::vector<TimedValue>& points, const Timeline& timeline,
               const Policy& policy, double reference_mb)
      : points_(points), timeline_(timeline), policy_(policy), reference_mb_(reference_mb) {}

  // `share`: of the run so far.
  [[nodiscard]] Decision at(double share) const {
    const double until = points_.front().at + share * (points_.back().at - points_.front().at);
    const auto end = std::upper_bound(points_.begin(), points_.end(), until,
                                      [](double at, const TimedValue& p) { return at < p.at; });
    return decide_now({points_.begin(), end}, timeline_, policy_, reference_mb_);
  }

  [[nodiscard]] bool leaked_at(double share) const { return at(share).word == Word::leak; }

 private:
  const std::vector<TimedValue>& points_;
  const Timeline& timeline_;
  const Policy& policy_;
  double reference_mb_;
};

// A close call may be the chance that is looked for, or the last bump of a cache: a leak was likely
// a while ago as well. Where the examples are counted it is their end that settles it, at once.
bool confirmed(const Decision& decision, const EarlierLooks& looks, const Timeline& timeline) {
  return believed_leak(decision) >= kSureAlone || timeline.new_examples.tell_apart() ||
         beyond_any_cache(decision.floors, timeline.largest_cache_mb) ||
         believed_leak(looks.at(kLookBefore)) >= kLikelyBefore;
}

// A leak that was established before holds while it wavers.
void hold_on(Decision& decision, const EarlierLooks& looks, const Timeline& timeline,
             const Policy& policy) {
  if (!wavers(decision, timeline)) return;
  const bool hardly_less = believed_leak(decision) >= 1 - policy.false_leak - kHardlyLess;
  const auto leaked_at = [&looks](double share) { return looks.leaked_at(share); };
  if ((hardly_less && std::ranges::any_of(kLatestLooks, leaked_at)) ||
      std::ranges::count_if(kEarlierLooks, leaked_at) >= 2) {
    decision.word = Word::leak;
    decision.confidence = decision.leak;
  }
}

// What the decision says of a leak, as logarithms of odds, with even camps; see Verdict::LeakOdds.
Verdict::LeakOdds leak_odds(const Decision& decision) {
  const Posterior& posterior = decision.posterior;
  const double endless = unbounded_weight(posterior);
  double best = 0;
  for (const Fit& fit : posterior.fits) best = std::max(best, fit.weight);
  if (best <= 0) return {};
  double grows = kNone, ends = kNone, fills = kNone;
  for (size_t i = 0; i < posterior.families.size() && i < kFamilyCount; ++i) {
    double& camp = !kFamilies[i].bounded ? grows : kFamilies[i].end == End::ahead ? fills : ends;
    camp = log_sum(camp, log_weight(posterior.families[i], best));
  }
  // Of growth without end, what is too slow to matter is no leak.
  const double matters = endless > 0 ? std::clamp(decision.leak / endless, 0.0, 1.0) : 0;
  const double leaks = matters > 0 ? grows + std::log(matters) : kNone;
  if (matters < 1) ends = log_sum(ends, grows + std::log1p(-matters));
  const auto odds = [leaks](double against) {
    return std::clamp(leaks - against, -kMostLogOdds, kMostLogOdds);
  };
  return {.all = odds(log_sum(ends, fills)), .shapes = odds(ends)};
}

// Neither camp is believed further than so many samples allow. The word was chosen knowing that.
void believe_no_further(const Timeline& timeline, Decision& decision) {
  if (decision.posterior.fits.empty() || !decision.enough) return;
  const double root = std::sqrt(static_cast<double>(samples_of(decision)));
  if (share_out(believed_endless(decision), decision.posterior)) add_up(decision);
  if (decision.word == Word::leak) {
    decision.confidence = decision.leak;
  } else if (decision.word == Word::undecided) {
    decision.confidence = likelier_camp(decision, timeline);
  } else {
    const auto hinge = static_cast<size_t>(Family::epoch_hinge);
    const double open = 1 - decision.posterior.families[hinge].weight;
    decision.confidence = std::min(decision.confidence, 1 - open * kUnseenOfFine / root);
  }
}

}  // namespace

size_t samples_of(const Decision& decision) {
  return decision.floors.opened.size() + decision.floors.pending;
}

double believed_of(double weight, double samples) {
  if (weight <= 0.5) return weight;
  return 0.5 + (weight - 0.5) * std::max(0.0, 1 - kUnseenOfLeak / std::sqrt(samples));
}

Decision decide(const std::vector<TimedValue>& points, const Timeline& timeline,
                const Policy& policy, double reference_mb) {
  Decision decision = decide_now(points, timeline, policy, reference_mb);
  const EarlierLooks looks(points, timeline, policy, reference_mb);
  if (decision.word != Word::leak) {
    hold_on(decision, looks, timeline, policy);
  } else if (!confirmed(decision, looks, timeline)) {
    decision.word = Word::undecided;
  }
  decision.odds = leak_odds(decision);
  believe_no_further(timeline, decision);
  return decision;
}

bool creeps(const Decision& decision) {
  if (decision.word != Word::plateau) return false;
  return decision.endless > kByFarLikelier ||
         (decision.endless > 0.5 && climbs_throughout(decision.floors.mb));
}

bool creeps_visibly(const Decision& decision) {
  if (!creeps(decision)) return false;
  const double span = decision.floors.now - decision.floors.at.front();
  return pooled_rate(decision.posterior, true).mean * span >= kLeastToTell;
}

PooledRate pooled_rate(const Posterior& posterior, bool unbounded_only) {
  double weight = 0, mean = 0, square = 0;
  for (const Fit& fit : posterior.fits) {
    if (unbounded_only && fit.family->bounded) continue;
    weight += fit.weight;
    mean += fit.weight * fit.rate;
    square += fit.weight * (fit.rate * fit.rate + fit.rate_se * fit.rate_se);
  }
  if (weight <= 0) return {};
  mean /= weight;
  const double deviation = std::sqrt(std::max(0.0, square / weight - mean * mean));
  const double half = std::hypot(kZ90 * deviation / std::sqrt(kBelieved), kUnsteady * mean);
  return {.mean = mean, .range = {mean - half, mean + half}};
}

}  // namespace plateau
