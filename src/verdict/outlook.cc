// SPDX-License-Identifier: Apache-2.0
#include "verdict/outlook.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/statistics.h"
#include "verdict/weighted.h"

namespace plateau {
namespace {

// Least squares, with the interval widened for lag-one correlation.
Slope slope_between(const Floors& floors, double from, double to) {
  std::vector<TimedValue> inside;
  for (const TimedValue& point : floors.opened) {
    if (point.at >= from && point.at <= to) inside.push_back(point);
  }
  if (inside.size() < 2) return {};
  const Line line = fit_line(
      inside.size(), [&](size_t i) { return inside[i].at; },
      [&](size_t i) { return inside[i].mb; });
  std::vector<double> residuals;
  residuals.reserve(inside.size());
  for (const TimedValue& p : inside) residuals.push_back(line.residual(p.at, p.mb));
  const double error =
      inside.size() > 2 && line.sxx > 0 ? slope_error(line, residuals) : std::fabs(line.slope);
  return {line.slope, {line.slope - kZ90 * error, line.slope + kZ90 * error}};
}

// How many samples after a known hinge tell "stopped there" from "goes on": k such that the
// evidence k^3 b^2 / (24 s^2) reaches log(1/alpha), for growth b per sample and noise s with
// correlation phi; half as many again cover nine in ten runs. At least three, whatever the noise.
double samples_to_tell(const Decision& decision) {
  double phi = 0, sigma = 0, rate = 0;
  for (const Fit& fit : decision.posterior.fits) {
    phi += fit.weight * fit.phi;
    sigma += fit.weight * fit.sigma;
    rate += fit.weight * fit.rate;
  }
  const double per_sample = rate * sample_interval(decision.floors);
  if (per_sample <= 0) return 3;
  const double noise = sigma / per_sample;
  constexpr double kLogOdds = 4.6;  // log(1 / 0.01)
  const double k =
      1.5 * std::cbrt(24 * noise * noise * kLogOdds * (1 + phi) / std::max(1 - phi, 0.02));
  return std::max(3.0, k);
}

// A rate is not known to be smaller than this share of its estimate, for the time it would take.
constexpr double kSlowestShare = 0.05;
// How far a rate may be from what a fit makes of it: its error, widened as in pooled_rate().
double rate_deviation(const Fit& fit) {
  return std::hypot(fit.rate_se / std::sqrt(kBelieved), kUnsteady * fit.rate / kZ90);
}

// Growth without end of less weight than this does not call for knowing the end of the run.
constexpr double kWorthAsking = 0.02;

// Where growth that has not ended yet will end is known far less well than the fits have it: each
// is sure of its own end, and the true one may be none of theirs. On recorded runs (corpus/fit) of
// which at least a fifth of the rise was to come, their 90 % held the level reached in 37 of 100.
// So the interval begins at this share of the rise that is forecast ...
constexpr double kLeastToCome = 0.1;
// ... and ends at this multiple of it, and, the farther away that is, as much again of what has
// risen.
constexpr double kMostToCome = 3;

// Widens the interval of a forecast to what nine in ten recorded runs needed.
void widen(const Floors& floors, Verdict::Forecast& forecast) {
  const double now_mb = floors.opened.back().mb;
  const double to_come = std::max(0.0, forecast.plateau_mb - now_mb);
  const double risen = std::max(0.0, now_mb - floors.opened.front().mb);
  if (to_come <= 0) return;
  const double far = to_come / (to_come + risen);
  forecast.range.low = std::min(forecast.range.low, now_mb + kLeastToCome * to_come);
  forecast.range.high =
      std::max(forecast.range.high, now_mb + kMostToCome * (to_come + far * risen));
}

// May growth go on for ever, by the word that is said? What is said to end passes no limit by going
// on.
bool leaves_growth_open(const Decision& decision) {
  return decision.word == Word::leak || decision.word == Word::undecided ||
         creeps_visibly(decision);
}

// The limit is passed at `at` if growth goes on at its mean rate; no more exactly than that is
// known.
void include_rates(const PooledRate& rate, double now, double at, Interval& range) {
  if (!(rate.mean > 0)) return;
  const double to_go_mb = (at - now) * rate.mean;
  range.low = std::min(range.low, now + to_go_mb / rate.range.high);
  range.high =
      std::max(range.high, now + to_go_mb / std::max(rate.range.low, kSlowestShare * rate.mean));
}

double spike_height(const Floors& floors) {
  std::vector<WeightedValue> heights;
  heights.reserve(floors.spikes.size());
  for (const Spike& spike : floors.spikes) heights.push_back({spike.height_mb, 1});
  // The tallest but one in ten: a limit is passed by high spikes, not by the median one.
  return heights.empty() ? floors.teeth_mb : weighted_quantile(std::move(heights), 0.9);
}

// Of a level that was fallen to, the clock from which on the floors hold it; the first one if there
// was no fall. A creep downwards by less than kFallOfLevel belongs to the level.
constexpr double kFallOfLevel = 0.1;
constexpr double kRestOfFall = 0.1;
double fell_until(const Decision& decision) {
  const Floors& floors = decision.floors;
  const size_t count = floors.mb.size();
  const auto tail = static_cast<std::ptrdiff_t>(count - std::max<size_t>(count / 4, 1));
  const double high = *std::max_element(floors.mb.begin() + tail, floors.mb.end());
  const double fall = *std::max_element(floors.mb.begin(), floors.mb.end()) - high;
  double from = floors.at.front();
  if (fall <= std::max(kFallOfLevel * high, decision.tolerated_mb)) return from;
  for (size_t i = 0; i + 1 < count; ++i) {
    if (floors.mb[i] > high + kRestOfFall * fall) from = floors.at[i + 1];
  }
  return from;
}

}  // namespace

double sample_interval(const Floors& floors) {
  std::vector<WeightedValue> gaps;
  for (size_t i = 1; i < floors.opened.size(); ++i) {
    gaps.push_back({floors.opened[i].at - floors.opened[i - 1].at, 1});
  }
  return gaps.empty() ? 1.0 : weighted_quantile(std::move(gaps), 0.5);
}

std::optional<Verdict::Settled> find_settled(const Decision& decision, const Timeline& timeline) {
  if (decision.word != Word::plateau) return std::nullopt;
  const std::vector<TimedValue>& opened = decision.floors.opened;
  double low = opened.back().mb;
  for (size_t i = opened.size() - std::min(opened.size(), std::max<size_t>(opened.size() / 4, 2));
       i < opened.size(); ++i) {
    low = std::min(low, opened[i].mb);
  }
  // Level is what a plateau tolerates, but not more than a tenth of the rise: a small rise must not
  // count as over before it is.
  const double rise = std::max(low - opened.front().mb, 0.0);
  const double band =
      std::min(decision.tolerated_mb, std::max(0.1 * rise, 2 * decision.posterior.noise_floor_mb));
  size_t first = 0;
  // What rises and falls with its load was level all along, within that.
  const auto weight = [&](Family family) {
    return decision.posterior.families[static_cast<size_t>(family)].weight;
  };
  const bool up_and_down = weight(Family::waves) + weight(Family::follows_load) > 0.5;
  // A later fall below the band, and a return, is a second settling: the last one counts.
  for (size_t i = 0; i + 1 < opened.size(); ++i) {
    if (!up_and_down && opened[i].mb < low - band) first = i + 1;
  }
  const double fell = up_and_down ? opened.front().at : fell_until(decision);
  while (first + 1 < opened.size() && opened[first].at < fell) ++first;
  Verdict::Settled settled;
  settled.step = opened[first].at;
  std::vector<WeightedValue> since;
  for (size_t i = first; i < opened.size(); ++i) since.push_back({opened[i].mb, 1});
  const auto [lowest, highest] = std::minmax_element(
      since.begin(), since.end(),
      [](const WeightedValue& a, const WeightedValue& b) { return a.value < b.value; });
  settled.range = {lowest->value, highest->value};
  settled.mb = weighted_quantile(since, 0.5);
  const double epoch = timeline.epoch_steps;
  if (first > 0 && epoch > 0 &&
      std::fabs(epoch - settled.step) <= sample_interval(decision.floors)) {
    settled.step = epoch;
  }
  return settled;
}

Slope climb_until(const Floors& floors, double from, double to) {
  Slope slope = slope_between(floors, from, to);
  for (const TimedValue& point : floors.opened) {
    if (point.at < to || to <= from) continue;
    slope.rate = (point.mb - floors.opened.front().mb) / (to - from);
    slope.range = {std::min(slope.range.low, slope.rate), std::max(slope.range.high, slope.rate)};
    break;
  }
  return slope;
}

std::optional<Verdict::Forecast> forecast_plateau(const Decision& decision,
                                                  const Timeline& timeline) {
  // Three floors leave room for a level only, which would be a forecast of no growth.
  if (decision.floors.at.size() < 4) return std::nullopt;
  std::vector<WeightedValue> ends;
  std::vector<WeightedValue> times;
  double weight = 0, heaviest = 0;
  const double now = decision.floors.now;
  const bool epoch_ahead = timeline.epoch_steps > now;
  for (const Fit& fit : decision.posterior.fits) heaviest = std::max(heaviest, fit.weight);
  for (const Fit& fit : decision.posterior.fits) {
    if (!fit.family->bounded) continue;
    // Filling towards the policy's deadline is no forecast of an end. Towards the epoch it is the
    // one that an undecided run is about.
    const bool filling = fit.family->end == End::ahead;
    if (fit.open_end) continue;
    if (!filling && epoch_ahead && decision.word == Word::undecided) continue;
    weight += fit.weight;
    // A level series has thousands of near-equal fits; those that add nothing to a quantile are
    // left out of it.
    if (fit.weight < kTooLight * heaviest) continue;
    add_spread(ends, fit.level_now + std::max(0.0, fit.remaining), end_deviation(fit, now),
               fit.weight);
    double at = std::max(fit.ends_at, now);
    if (fit.family->end == End::decay && fit.remaining > decision.tolerated_mb) {
      at = now + fit.parameter * std::log(fit.remaining / decision.tolerated_mb);
    }
    times.push_back({at, fit.weight});
  }
  if (weight < 0.01 || ends.empty()) return std::nullopt;
  Verdict::Forecast forecast;
  sort_by_value(ends);
  forecast.plateau_mb = sorted_quantile(ends, 0.5);
  forecast.range = {sorted_quantile(ends, 0.05), sorted_quantile(ends, 0.95)};
  if (decision.word != Word::plateau) widen(decision.floors, forecast);
  const double at = weighted_quantile(times, 0.5);
  if (at > now) forecast.at_step = at;
  return forecast;
}

Risk assess_risk(const Decision& decision, const Timeline& timeline,
                 std::optional<double> limit_mb) {
  Risk risk;
  risk.limit_mb = limit_mb;
  if (!limit_mb || decision.posterior.fits.empty()) return risk;
  const double now = decision.floors.now;
  const bool may_go_on = leaves_growth_open(decision);
  const double room = *limit_mb - spike_height(decision.floors);
  std::vector<WeightedValue> crossings;
  double passes = 0, endless = 0;
  for (const Fit& fit : decision.posterior.fits) {
    const double missing = room - fit.level_now;
    const double rate = std::max(fit.rate, 1e-12);
    const double at = now + std::max(0.0, missing) / rate;
    if (fit.family->bounded) {
      const double over = fit.level_now + std::max(0.0, fit.remaining) - room;
      passes += fit.weight * normal_cdf(over / std::max(end_deviation(fit, now), 1e-9));
      if (over > 0) crossings.push_back({std::min(at, std::max(fit.ends_at, now)), fit.weight});
      continue;
    }
    if (!(fit.rate > decision.material_rate)) continue;
    endless += fit.weight;
    // As uncertain as the rate is; one that is not above zero never gets there.
    for (const auto& [z, share] : kFivePoints) {
      const double possible =
          std::max(fit.rate + z * rate_deviation(fit), kSlowestShare * fit.rate);
      const double reached = now + std::max(0.0, missing) / possible;
      if (may_go_on) crossings.push_back({reached, fit.weight * share});
      if (reached <= timeline.total_steps) passes += fit.weight * share;
    }
  }
  if (timeline.total_steps > 0 || endless < kWorthAsking) risk.oom = std::min(passes, 1.0);
  double weight = 0;
  for (const WeightedValue& crossing : crossings) weight += crossing.weight;
  if (weight >= 0.05) {
    sort_by_value(crossings);
    risk.at_step = sorted_quantile(crossings, 0.5);
    risk.at_step_range =
        Interval{sorted_quantile(crossings, 0.05), sorted_quantile(crossings, 0.95)};
    if (may_go_on) {
      include_rates(pooled_rate(decision.posterior, true), now, *risk.at_step, *risk.at_step_range);
    }
  }
  return risk;
}

std::optional<double> decides_at(const Decision& decision, const Timeline& timeline) {
  if (decision.word != Word::undecided) return std::nullopt;
  const double now = decision.floors.now;
  const double interval = sample_interval(decision.floors);
  const std::vector<TimedValue>& opened = decision.floors.opened;
  const bool level = opened.empty() || opened.back().mb - opened.front().mb < kMaterialMb;
  const size_t needed = level ? kMinSamplesOfAllClear : kMinSamplesOfLeak;
  if (opened.size() < needed && (level || now >= timeline.deadline)) {
    return now + static_cast<double>(needed - opened.size()) * interval;
  }
  const double held_back_until =
      level ? timeline.deadline : std::max(timeline.deadline, timeline.one_climb_until);
  if (now < held_back_until) {
    return std::max(held_back_until, timeline.epoch_steps + samples_to_tell(decision) * interval);
  }
  // The error of a slope falls with the span to the power 3/2: how much longer until the pooled
  // rate is either three errors from zero or below what a plateau may creep by.
  const PooledRate rate = pooled_rate(decision.posterior, false);
  const double error = (rate.range.high - rate.range.low) / (2 * kZ90);
  const double span = std::max(now - decision.floors.at.front(), interval);
  const double to_leak = rate.mean > 0 ? 3 * error / rate.mean : 1e9;
  const double to_level = kZ90 * error / std::max(decision.tolerated_rate, 1e-12);
  const double stretch = std::pow(std::min(to_leak, to_level), 2.0 / 3);
  // Half a span at least: shorter promises were kept less than half the time on recorded traces.
  return now + std::clamp(span * (stretch - 1), 0.5 * span, 2 * span);
}

}  // namespace plateau
