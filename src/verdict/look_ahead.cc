// SPDX-License-Identifier: Apache-2.0
// The forecast of a page and the broken lines of the terminal; hindsight.h tells how.
#include <algorithm>
#include <cmath>

#include "verdict/hindsight.h"
#include "verdict/judge_parts.h"
#include "verdict/outlook.h"
#include "verdict/weighted.h"

namespace plateau {
namespace {

constexpr size_t kPlaces = 60;
constexpr double kUnplannedShare = 1.0 / 3;
constexpr double kLongestShare = 1.0;
// The heaviest fits that together carry this share stand for all; the rest moves no quantile drawn.
constexpr double kPooledShare = 0.99;
// An explanation below this share would only clutter the picture.
constexpr double kWorthDrawing = 0.05;

// What a fit says about one place ahead: mean and standard deviation.
struct Ahead {
  double mb = 0;
  double deviation = 0;
};

Ahead bounded_ahead(const Fit& fit, double now, double at) {
  const double left = std::max(0.0, fit.remaining);
  double rise = left;
  double reach = 0;
  if (fit.ends_at > now) {
    reach = std::min(at, fit.ends_at) - now;
    rise = left * reach / (fit.ends_at - now);
  } else if (left > 0 && fit.rate > 0) {
    rise = left * (1 - std::exp(-fit.rate * (at - now) / left));
  }
  return {fit.level_now + rise,
          std::hypot(stationary_deviation(fit), reach * fit.rate_se, kUnforeseen * rise)};
}

Ahead ahead_of(const Fit& fit, double now, double at) {
  if (fit.family->bounded) return bounded_ahead(fit, now, at);
  const double reach = at - now;
  return {fit.level_now + fit.rate * reach,
          std::hypot(stationary_deviation(fit), reach * fit.rate_se)};
}

std::vector<Fit> heaviest(std::vector<Fit> fits) {
  std::sort(fits.begin(), fits.end(),
            [](const Fit& a, const Fit& b) { return a.weight > b.weight; });
  double sum = 0;
  size_t kept = 0;
  while (kept < fits.size() && sum < kPooledShare) sum += fits[kept++].weight;
  fits.resize(kept);
  return fits;
}

// What all fits say about one place ahead.
FanPoint pooled_at(const std::vector<Fit>& fits, double now, double at) {
  std::vector<WeightedValue> values;
  values.reserve(fits.size() * kFivePoints.size());
  for (const Fit& fit : fits) {
    const Ahead ahead = ahead_of(fit, now, at);
    add_spread(values, ahead.mb, ahead.deviation, fit.weight);
  }
  sort_by_value(values);
  const auto held = [&values](double share) {
    return std::max(0.0, sorted_quantile(values, share));
  };
  return {at, held(0.05), held(0.5), held(0.95)};
}

std::vector<FanPoint> band_of(const Posterior& posterior, double now, double until) {
  const std::vector<Fit> fits = heaviest(posterior.fits);
  std::vector<FanPoint> band;
  band.reserve(kPlaces);
  for (size_t i = 0; i < kPlaces; ++i) {
    band.push_back(
        pooled_at(fits, now,
                  now + (until - now) * static_cast<double>(i) / static_cast<double>(kPlaces - 1)));
  }
  return band;
}

bool finite(const PlotPoint& point) {
  return std::isfinite(point.step) && std::isfinite(point.mb);
}

// The series' last floor point, where forecasts begin.
PlotPoint last_floor(const Verdict& verdict) {
  for (auto point = verdict.plot.rbegin(); point != verdict.plot.rend(); ++point) {
    if (finite(*point) && !point->spike) return *point;
  }
  return verdict.plot.back();
}

// From the last point to the plateau, then level to the end of the picture.
std::vector<PlotPoint> bounded_path(const PlotPoint& from, double plateau_mb,
                                    std::optional<double> at_step, double end) {
  const double turn = std::clamp(at_step.value_or((from.step + end) / 2), from.step, end);
  return {from, {.step = turn, .mb = plateau_mb}, {.step = end, .mb = plateau_mb}};
}

}  // namespace

std::vector<FanPath> paths_ahead(const Verdict& verdict, double until) {
  std::vector<FanPath> paths;
  if (verdict.plot.empty()) return paths;
  const PlotPoint from = last_floor(verdict);
  const double end = std::max(until, from.step);
  bool drawn_bounded = false;
  bool drawn_unbounded = false;
  std::string likeliest_bounded;
  for (const Explanation& explanation : verdict.explanations) {
    if (explanation.bounded && likeliest_bounded.empty()) likeliest_bounded = explanation.name;
    if (explanation.weight < kWorthDrawing) continue;
    if (explanation.bounded && explanation.plateau_mb && !drawn_bounded) {
      paths.push_back({explanation.name,
                       bounded_path(from, *explanation.plateau_mb, explanation.ends_at_step, end)});
      drawn_bounded = true;
    } else if (!explanation.bounded && explanation.rate_mb_per_step > 0 && !drawn_unbounded) {
      const double rise = explanation.rate_mb_per_step * (end - from.step);
      paths.push_back({explanation.name, {from, {.step = end, .mb = from.mb + rise}}});
      drawn_unbounded = true;
    }
  }
  if (!drawn_bounded && verdict.forecast) {
    paths.push_back({likeliest_bounded, bounded_path(from, verdict.forecast->plateau_mb,
                                                     verdict.forecast->at_step, end)});
  }
  std::erase_if(paths, [](const FanPath& path) {
    return !std::all_of(path.points.begin(), path.points.end(), finite);
  });
  return paths;
}

std::optional<double> floor_at_planned_end(const Decision& decision, const Timeline& timeline) {
  const double now = decision.floors.now;
  if (!decision.enough || decision.posterior.fits.empty() || timeline.total_steps <= now) {
    return std::nullopt;
  }
  return pooled_at(heaviest(decision.posterior.fits), now, timeline.total_steps).mid_mb;
}

namespace {

Fan look_ahead(const CaseFile& file, const Verdict& verdict) {
  const Decision& decision = file.decision();
  const double now = decision.floors.now;
  const double range = now - verdict.first_step;
  if (verdict.settled || !decision.enough || decision.posterior.fits.empty() || !(range > 0)) {
    return {};
  }
  const double planned = file.timeline.total_steps;
  const double until = planned > now ? std::min(planned, now + kLongestShare * range)
                                     : now + kUnplannedShare * range;
  return {.band = band_of(decision.posterior, now, until), .paths = paths_ahead(verdict, until)};
}

std::vector<PlotPoint> floor_of(const Floors& floors) {
  std::vector<PlotPoint> points;
  points.reserve(floors.at.size() + 1);
  for (size_t i = 0; i < floors.at.size(); ++i) {
    points.push_back({.step = floors.at[i], .mb = floors.mb[i]});
  }
  if (points.empty() || floors.opened.empty()) return points;
  const TimedValue& last = floors.opened.back();
  if (last.at > points.back().step) points.push_back({.step = last.at, .mb = last.mb});
  return points;
}

}  // namespace

Judged judge_ahead(const Run& run, const Policy& policy) {
  const Signals signals = telling_signals(TreeColumns(run), run, policy);
  if (signals.components.empty()) return {.verdict = judge_signals(run, signals, policy)};
  const CaseFile file = decide_case(run, signals, policy);
  Judged judged{.verdict = sum_up(file)};
  judged.ahead = look_ahead(file, judged.verdict);
  judged.floor = floor_of(file.decision().floors);
  return judged;
}

}  // namespace plateau
