// SPDX-License-Identifier: Apache-2.0
// One series on its way to a SiteVerdict: values, their error, and what is known besides them.
// Private to site_growth.
#pragma once

#include <string>
#include <vector>

#include "verdict/decision.h"
#include "verdict/site_growth.h"

namespace plateau {

// What the tracer knows of a site besides the series. Zero where unknown.
struct SiteTurnover {
  double allocated_mb = 0;
  double freed_mb = 0;
  double peak_mb = 0;
  double median_age = 0;  // Of blocks alive, on the clock.
};

struct SiteSeries {
  std::vector<TimedValue> points;  // By rising clock, one per clock value.
  double variance_mb = 0;          // Sampling variance per MB alive, in MB; 0 when exact.
  double matters_mb = 0;           // Growth below this is none, sampling error apart.
  SiteTurnover turnover;
  SeriesUnit unit = SeriesUnit::mb;
};

// Standard error of the estimate of `mb` alive.
double sampling_error(const SiteSeries& series, double mb);
// Standard error of the difference between the first and the last point.
double growth_error(const SiteSeries& series);

// What the series runs along.
struct SeriesClock {
  Clock clock = Clock::steps;
  Timeline timeline;
  double batch = 0;  // Examples per step, 0 if unknown.
};
SeriesClock series_clock(Clock clock, const Context& context, const Policy& policy);

SiteVerdict judge_site(const SiteSeries& series, const SeriesClock& clock, const Policy& policy);

// A jump of the floor that stays.
struct Jump {
  double at = 0;
  double mb = 0;
};

// All that the finding about a site draws on.
struct SiteCase {
  const SiteSeries* series = nullptr;
  Clock clock = Clock::steps;
  Timeline timeline;
  Floors floors;            // In MB.
  Decision decision;        // In units; empty posterior if the screen decided.
  double unit_mb = 1;       // MB per unit of the decision.
  double settled_at = 0;    // Grown: since when level.
  std::vector<Jump> jumps;  // One-off: largest first.
  double known_by = 0;      // Undecided: when it will be known; 0 if that cannot be said.
  double peak_mb = 0;
  double peak_at = 0;
};

// Fills clock, unit, explanations and `why` of a judged site.
void describe_site(const SiteCase& site, SiteVerdict& verdict);

}  // namespace plateau
