// SPDX-License-Identifier: Apache-2.0
#include "rivals.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace plateau::bench {
namespace {

struct Trend {
  double slope = 0;
  double intercept = 0;
  double t = 0;  // Slope over its standard error, independent errors assumed.
  double r2 = 0;
};

Trend fit_trend(const Curve& curve, size_t from) {
  const auto n = static_cast<double>(curve.at.size() - from);
  if (n < 3) return {};
  const Line line = fit_line(
      curve.at.size() - from, [&](size_t i) { return curve.at[from + i]; },
      [&](size_t i) { return curve.mb[from + i]; });
  if (line.sxx <= 0) return {};
  const double sse = std::max(line.syy - line.sxy * line.slope, 1e-12);
  return {.slope = line.slope,
          .intercept = line.mean_y - line.slope * line.mean_x,
          .t = line.slope / std::sqrt(sse / (n - 2) / line.sxx),
          .r2 = line.syy > 0 ? 1 - sse / line.syy : 0};
}

double lowest(const Curve& curve, size_t from, size_t to) {
  return *std::min_element(curve.mb.begin() + static_cast<std::ptrdiff_t>(from),
                           curve.mb.begin() + static_cast<std::ptrdiff_t>(to));
}

// Floor of the last ten samples minus floor of the first ten.
double floor_rise(const Curve& curve) {
  const size_t n = curve.mb.size();
  const size_t ten = std::min<size_t>(10, n);
  return lowest(curve, n - ten, n) - lowest(curve, 0, ten);
}

bool floor_100mb(const Curve& curve) {
  return floor_rise(curve) > 100;
}
bool floor_3_percent(const Curve& curve) {
  return floor_rise(curve) > 0.03 * curve.mb.front();
}
bool slope_all(const Curve& curve) {
  return fit_trend(curve, 0).t > 3;
}
bool slope_half(const Curve& curve) {
  return fit_trend(curve, curve.at.size() / 2).t > 3;
}

bool slope_half_1_percent(const Curve& curve) {
  const size_t half = curve.at.size() / 2;
  const Trend line = fit_trend(curve, half);
  const double grown = line.slope * (curve.at.back() - curve.at[half]);
  return line.t > 3 && grown > 0.01 * curve.mb[half];
}

// Rank trend with the tie-corrected variance.
bool mann_kendall_half(const Curve& curve) {
  const size_t from = curve.mb.size() / 2;
  const auto n = static_cast<double>(curve.mb.size() - from);
  if (n < 4) return false;
  double s = 0;
  for (size_t i = from; i < curve.mb.size(); ++i) {
    for (size_t j = i + 1; j < curve.mb.size(); ++j) {
      s += (curve.mb[j] > curve.mb[i]) - (curve.mb[j] < curve.mb[i]);
    }
  }
  std::vector<double> sorted(curve.mb.begin() + static_cast<std::ptrdiff_t>(from), curve.mb.end());
  std::sort(sorted.begin(), sorted.end());
  double variance = n * (n - 1) * (2 * n + 5);
  for (size_t i = 0; i < sorted.size();) {
    size_t j = i;
    while (j < sorted.size() && sorted[j] == sorted[i]) ++j;
    const auto ties = static_cast<double>(j - i);
    variance -= ties * (ties - 1) * (2 * ties + 5);
    i = j;
  }
  return variance > 0 && (s - 1) / std::sqrt(variance / 18) > 3;
}

// Prometheus: predict_linear over the last quarter, one run length ahead, above 1.25 x the present.
// Its usual form compares with a limit; the traces have none, so a quarter more stands in for it.
bool predict_linear(const Curve& curve) {
  const size_t from = curve.at.size() * 3 / 4;
  const Trend line = fit_trend(curve, from);
  const double ahead = curve.at.back() + (curve.at.back() - curve.at.front());
  return line.intercept + line.slope * ahead > 1.25 * curve.mb.back();
}

// One line through everything, R^2 >= 0.7 and rising by 1 % or more.
bool r_squared(const Curve& curve) {
  const Trend line = fit_trend(curve, 0);
  const double grown = line.slope * (curve.at.back() - curve.at.front());
  return line.r2 >= 0.7 && grown > 0.01 * curve.mb.front();
}

// Scalene's leak score on the footprint alone: an allocation is sampled at each new maximum, and is
// seen to be freed if the footprint falls below the maximum before it. Report at a likelihood of
// 0.95 and at least 1 % growth.
bool scalene_score(const Curve& curve) {
  double allocations = 0, frees = 0;
  double highest = curve.mb.front(), before = highest;
  bool pending = false;
  for (const double mb : curve.mb) {
    if (mb > highest) {
      before = highest;
      highest = mb;
      allocations += 1;
      pending = true;
    } else if (pending && mb < before) {
      frees += 1;
      pending = false;
    }
  }
  const double likelihood = 1 - (frees + 1) / (allocations - frees + 2);
  return likelihood >= 0.95 && curve.mb.back() > 1.01 * curve.mb.front();
}

// Coroot's: of the pieces between falls by half the longest, whose line rises, in its last quarter
// by at least 0.3 as fast, and by more than a tenth of the limit in an hour. The traces have
// neither limit nor hours: the run stands in for the hour, the present level for the limit.
bool coroot(const Curve& curve) {
  size_t from = 0, first = 0, past = 0;
  for (size_t i = 0; i < curve.mb.size(); ++i) {
    if (i > 0 && curve.mb[i] < 0.5 * curve.mb[i - 1]) from = i;
    if (i + 1 - from > past - first) first = from, past = i + 1;
  }
  const auto cut = [first, past](const std::vector<double>& all) {
    const auto begin = all.begin();
    return std::vector<double>(begin + static_cast<std::ptrdiff_t>(first),
                               begin + static_cast<std::ptrdiff_t>(past));
  };
  const Curve longest{.at = cut(curve.at), .mb = cut(curve.mb)};
  const double slope = fit_trend(longest, 0).slope;
  const double lately = fit_trend(longest, longest.at.size() * 3 / 4).slope;
  const double grown = slope * (curve.at.back() - curve.at.front());
  return lately >= 0.3 * slope && grown > 0.1 * curve.mb.back();
}

}  // namespace

Curve tree_curve(const Run& run) {
  const auto has = [&run](Metric metric) {
    return std::any_of(run.series.begin(), run.series.end(),
                       [metric](const Series& s) { return s.metric == metric; });
  };
  const Metric metric = has(Metric::pss) ? Metric::pss : Metric::rss;
  Curve curve;
  for (size_t i = 0; i < run.instants.size(); ++i) {
    double sum = 0;
    for (const Series& series : run.series) {
      if (series.metric == metric && std::isfinite(series.mb[i])) sum += series.mb[i];
    }
    curve.at.push_back(static_cast<double>(run.instants[i].step));
    curve.mb.push_back(sum);
  }
  return curve;
}

const std::vector<Rival>& rivals() {
  static const std::vector<Rival> list = {
      {"floor of first 10 vs last 10 samples > 100 MB", floor_100mb},
      {"the same, > 3 % of start", floor_3_percent},
      {"OLS slope over all, t > 3", slope_all},
      {"OLS slope over last half, t > 3", slope_half},
      {"OLS last half, t > 3 and > 1 % growth", slope_half_1_percent},
      {"Mann-Kendall over last half, z > 3", mann_kendall_half},
      {"predict_linear, one run ahead > 1.25 x", predict_linear},
      {"R² >= 0.7 and > 1 % growth", r_squared},
      {"Scalene score >= 0.95", scalene_score},
      {"Coroot, > 10 % in one run", coroot},
  };
  return list;
}

}  // namespace plateau::bench
