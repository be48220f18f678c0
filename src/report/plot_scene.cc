// SPDX-License-Identifier: Apache-2.0
#include "report/plot_scene.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "verdict/hindsight.h"

namespace plateau {
namespace {

// An explanation below this share would only clutter the picture.
constexpr double kWorthDrawing = 0.05;
// A forecast may take up at most half of the picture.
constexpr double kLongestForecast = 1.0;
constexpr double kShortestForecast = 0.25;
// A flat run is drawn flat: the vertical range spans at least this share of the level, so that
// noise of a thousandth does not fill the picture.
constexpr double kLeastSpan = 0.05;
// A limit this far above the data, as a share of the range, still belongs into the picture.
constexpr double kLimitReach = 0.5;
// More boundaries than this are a fence, not information; then only the first is drawn.
constexpr size_t kMostBoundaries = 6;

bool finite(const PlotPoint& point) {
  return std::isfinite(point.step) && std::isfinite(point.mb);
}

bool still_open(const Verdict& verdict) {
  return !verdict.settled.has_value();
}

double forecast_end(const Verdict& verdict, double from, double range) {
  double end = from + kShortestForecast * range;
  const auto reach = [&end](std::optional<double> step) {
    if (step && std::isfinite(*step)) end = std::max(end, *step);
  };
  for (const Explanation& explanation : verdict.explanations) {
    if (explanation.weight >= kWorthDrawing && explanation.bounded) {
      reach(explanation.ends_at_step);
    }
  }
  if (verdict.forecast) reach(verdict.forecast->at_step);
  reach(verdict.decides_at_step);
  reach(verdict.risk.at_step);
  return std::min(end + 0.05 * range, from + kLongestForecast * range);
}

void add_forecasts(const Verdict& verdict, PlotScene& scene) {
  for (FanPath& path : paths_ahead(verdict, scene.step_high)) {
    scene.forecasts.push_back(std::move(path.points));
  }
}

void add_boundaries(const Verdict& verdict, PlotScene& scene) {
  const double every = verdict.epoch_steps.value_or(0);
  if (verdict.clock == Clock::steps && std::isfinite(every) && every > 0 &&
      (scene.step_high - scene.step_low) / every < 1e4) {
    for (double at = every; at <= scene.step_high; at += every) {
      if (at > scene.step_low) scene.boundaries.push_back(at);
    }
  } else {
    for (const PlotMark& mark : verdict.marks) {
      const bool inside = mark.step > scene.step_low && mark.step < scene.step_high;
      if (mark.kind == EventKind::epoch && inside) scene.boundaries.push_back(mark.step);
    }
  }
  if (scene.boundaries.size() > kMostBoundaries) {
    scene.boundaries.erase(scene.boundaries.begin() + 1, scene.boundaries.end());
  }
}

void set_heights(const Verdict& verdict, PlotScene& scene) {
  for (const auto& path : scene.forecasts) {
    for (const PlotPoint& point : path) {
      scene.mb_low = std::min(scene.mb_low, point.mb);
      scene.mb_high = std::max(scene.mb_high, point.mb);
    }
  }
  const double least = std::max(kLeastSpan * std::fabs(scene.mb_high), 0.01);
  if (scene.mb_high - scene.mb_low < least) {
    const double middle = (scene.mb_high + scene.mb_low) / 2;
    scene.mb_low = std::max(0.0, middle - least / 2);
    scene.mb_high = scene.mb_low + least;
  }
  const double span = scene.mb_high - scene.mb_low;
  const double limit = verdict.risk.limit_mb.value_or(std::nan(""));
  if (limit >= scene.mb_low && limit <= scene.mb_high + kLimitReach * span) {
    scene.limit_mb = limit;
    scene.mb_high = std::max(scene.mb_high, limit);
  }
  scene.mb_high += 0.02 * span;
}

}  // namespace

std::optional<PlotScene> plan_plot(const Verdict& verdict) {
  PlotScene scene;
  size_t points = 0;
  for (const PlotPoint& point : verdict.plot) {
    if (!finite(point)) continue;
    if (points++ == 0) {
      scene.step_low = scene.step_high = point.step;
      scene.mb_low = scene.mb_high = point.mb;
    }
    scene.step_low = std::min(scene.step_low, point.step);
    scene.step_high = std::max(scene.step_high, point.step);
    scene.mb_low = std::min(scene.mb_low, point.mb);
    scene.mb_high = std::max(scene.mb_high, point.mb);
    scene.has_spikes = scene.has_spikes || point.spike;
  }
  const double range = scene.step_high - scene.step_low;
  if (points < 2 || !(range > 0)) return std::nullopt;
  if (still_open(verdict)) {
    scene.step_high = forecast_end(verdict, scene.step_high, range);
    add_forecasts(verdict, scene);
    if (scene.forecasts.empty()) scene.step_high = scene.step_low + range;
  }
  add_boundaries(verdict, scene);
  set_heights(verdict, scene);
  return scene;
}

}  // namespace plateau
