// SPDX-License-Identifier: Apache-2.0
#include "verdict/site_growth.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "recording/facts.h"
#include "verdict/site_series.h"

namespace plateau {
namespace {

// Below these growth is of no interest, whatever its shape.
constexpr double kSmallestGrowthMb = 0.05;
constexpr double kSmallestGrowthCount = 20;
constexpr double kSmallestShareOfHeap = 0.001;

// Sites that will have grown to less than this share of what others grew are listed among those,
// not before them, whatever their word: a leak of a hundredth is not what the growth is made of.
constexpr double kWorthLeading = 0.02;

double median_age(const AgeCounts& ages) {
  double total = 0;
  for (const double blocks : ages) total += blocks;
  double sum = 0;
  for (size_t i = 0; i < ages.size(); ++i) {
    if (ages[i] <= 0 || sum + ages[i] < total / 2) {
      sum += ages[i];
      continue;
    }
    if (i == 0) return 0;
    const double share = (total / 2 - sum) / ages[i];
    return std::exp2(static_cast<double>(i) - 1 + share);
  }
  return 0;
}

// The rows as a run of one column, so that start-up and tear-down are told by the same rules.
Run run_of_rows(const HeapTrack& track) {
  Run run;
  // A snapshot of a device is taken while the job runs: it shows neither start-up nor tear-down.
  const bool of_process = track.pid >= 0;
  if (of_process) {
    run.command = "traced";
    run.ending.kind = Ending::Kind::exited;
  }
  run.processes = {Process{}};
  Series total{.process = 0, .metric = Metric::memory, .label = "", .mb = {}};
  const bool stepped = std::any_of(track.rows.begin(), track.rows.end(),
                                   [](const HeapRow& row) { return row.step > 0; });
  for (const HeapRow& row : track.rows) {
    const int64_t step = stepped ? std::max<int64_t>(row.step, 0) : -1;
    run.instants.push_back({.step = step, .time_s = row.time_s});
    double bytes = row.others_bytes;
    for (const HeapCell& cell : row.cells) bytes += cell.live_bytes;
    total.mb.push_back(bytes / kBytesPerMb);
  }
  run.series = {std::move(total)};
  return run;
}

// One value per clock reading: the smallest, because two rows within one step differ by what is
// temporary.
void keep_smallest(std::vector<TimedValue>& points) {
  size_t kept = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    if (points[i].at == points[kept].at) {
      points[kept].mb = std::min(points[kept].mb, points[i].mb);
    } else {
      points[++kept] = points[i];
    }
  }
  if (!points.empty()) points.resize(kept + 1);
}

// Variance of the estimate per MB alive, in MB: the track's own figure, or the one by size of block
// if that is larger.
double variance_per_mb(const HeapTrack& track, const HeapSite& site, double live_mb) {
  double variance = 0;
  if (live_mb > 0) variance = site.live_variance / (kBytesPerMb * kBytesPerMb) / live_mb;
  return std::max(variance, sampling_variance(track, site, 1) / kBytesPerMb);
}

std::vector<SiteSeries> series_of_sites(const HeapTrack& track, const WorkingRows& working) {
  std::vector<SiteSeries> all(track.sites.size());
  double heap_mb = 0;
  for (SiteSeries& series : all) series.points.resize(working.rows.size());
  for (size_t i = 0; i < working.rows.size(); ++i) {
    const HeapRow& row = track.rows[working.rows[i]];
    double bytes = row.others_bytes;
    for (SiteSeries& series : all) series.points[i].at = working.at[i];
    for (const HeapCell& cell : row.cells) {
      all[cell.site].points[i].mb = cell.live_bytes / kBytesPerMb;
      bytes += cell.live_bytes;
    }
    heap_mb = std::max(heap_mb, bytes / kBytesPerMb);
  }
  for (SiteSeries& series : all) keep_smallest(series.points);
  for (size_t s = 0; s < all.size(); ++s) {
    const HeapSite& site = track.sites[s];
    SiteSeries& series = all[s];
    series.matters_mb = std::max(kSmallestGrowthMb, kSmallestShareOfHeap * heap_mb);
    const double live_mb = series.points.empty() ? 0 : series.points.back().mb;
    series.variance_mb = variance_per_mb(track, site, live_mb);
    series.turnover = {.allocated_mb = site.allocated_bytes / kBytesPerMb,
                       .freed_mb = site.freed_bytes / kBytesPerMb,
                       .peak_mb = site.peak_bytes / kBytesPerMb,
                       .median_age = median_age(site.live_age)};
  }
  return all;
}

double live_blocks(const HeapTrack& track, const WorkingRows& working, size_t site) {
  if (working.rows.empty()) return 0;
  for (const HeapCell& cell : track.rows[working.rows.back()].cells) {
    if (cell.site == site) return cell.live_blocks;
  }
  return 0;
}

// What it will have grown to: so far, and until its end; of what has none, for as long again.
double foreseen_growth(const SiteVerdict& verdict, const WorkingRows& working) {
  if (!is_growing(verdict) || working.at.empty()) return verdict.growth_mb;
  const double now = working.at.back();
  const double ahead =
      verdict.ends_at_step ? std::max(0.0, *verdict.ends_at_step - now) : now - working.at.front();
  return verdict.growth_mb + std::max(0.0, verdict.rate_mb_per_step) * ahead;
}

// 0 grows on, 1 has grown, 2 the rest.
int rank_of(const SiteVerdict& verdict) {
  if (is_growing(verdict)) return 0;
  return has_grown(verdict) ? 1 : 2;
}

void sort_sites(std::vector<SiteVerdict>& verdicts, const WorkingRows& working) {
  struct Place {
    int rank = 2;
    double mb = 0;
    size_t index = 0;
  };
  double most_grown = 0;
  for (const SiteVerdict& verdict : verdicts) {
    if (rank_of(verdict) < 2) most_grown = std::max(most_grown, verdict.growth_mb);
  }
  std::vector<Place> places;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const SiteVerdict& verdict = verdicts[i];
    Place place{.rank = rank_of(verdict), .mb = verdict.live_mb, .index = i};
    if (place.rank < 2) place.mb = foreseen_growth(verdict, working);
    const bool small = place.mb < kWorthLeading * most_grown;
    if (place.rank == 0 && (small || !verdict.grew)) place.rank = 1;
    places.push_back(place);
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.mb > b.mb;
  });
  std::vector<SiteVerdict> sorted;
  sorted.reserve(verdicts.size());
  for (const Place& place : places) sorted.push_back(std::move(verdicts[place.index]));
  verdicts = std::move(sorted);
}

}  // namespace

std::string_view growth_word_name(GrowthWord word) {
  constexpr std::array<std::string_view, 8> kNames = {"unbounded", "filling", "grown", "one-off",
                                                      "churn",     "spike",   "level", "undecided"};
  return kNames[static_cast<size_t>(word)];
}

bool is_growing(const SiteVerdict& verdict) {
  return verdict.word == GrowthWord::unbounded || verdict.word == GrowthWord::filling ||
         (verdict.word == GrowthWord::undecided && verdict.rate_mb_per_step > 0);
}

bool has_grown(const SiteVerdict& verdict) {
  return is_growing(verdict) || verdict.word == GrowthWord::grown ||
         verdict.word == GrowthWord::one_off ||
         (verdict.word == GrowthWord::undecided && verdict.grew);
}

SeriesClock series_clock(Clock clock, const Context& context, const Policy& policy) {
  SeriesClock result{.clock = clock};
  if (clock == Clock::steps) {
    result.timeline.epoch_steps = epoch_steps_of(context).value_or(0);
    if (context.total_steps) result.timeline.total_steps = context.total_steps->value;
    if (context.batch) result.batch = context.batch->value;
  }
  result.timeline.deadline = warmup_deadline(clock, result.timeline.epoch_steps,
                                             result.timeline.total_steps, policy.warmup_epochs);
  return result;
}

WorkingRows working_rows(const HeapTrack& track) {
  WorkingRows working;
  if (track.rows.empty()) return working;
  const Signals signals = extract_signals(run_of_rows(track));
  working.clock = signals.clock;
  for (size_t i = 0; i < track.rows.size(); ++i) {
    if (!signals.working[i]) continue;
    working.rows.push_back(i);
    working.at.push_back(signals.clock_of_instant[i]);
  }
  return working;
}

std::vector<SiteVerdict> judge_sites(const HeapTrack& track, const Context& context,
                                     const Policy& policy) {
  const WorkingRows working = working_rows(track);
  const SeriesClock clock = series_clock(working.clock, context, policy);
  const std::vector<SiteSeries> series = series_of_sites(track, working);
  std::vector<SiteVerdict> verdicts;
  verdicts.reserve(series.size());
  for (size_t s = 0; s < series.size(); ++s) {
    verdicts.push_back(judge_site(series[s], clock, policy));
    verdicts.back().site = s;
    verdicts.back().blocks = live_blocks(track, working, s);
  }
  sort_sites(verdicts, working);
  return verdicts;
}

SiteVerdict judge_series(const std::vector<TimedValue>& points, Clock clock, const Context& context,
                         const Policy& policy, SeriesUnit unit) {
  SiteSeries series{.unit = unit};
  double peak = 0;
  for (const TimedValue& point : points) {
    if (!std::isfinite(point.mb) || !std::isfinite(point.at)) continue;
    peak = std::max(peak, point.mb);
    // As within a run: of two values at one moment the smaller is what stays.
    if (!series.points.empty() && series.points.back().at == point.at) {
      series.points.back().mb = std::min(series.points.back().mb, point.mb);
    } else {
      series.points.push_back({point.at, std::max(0.0, point.mb)});
    }
  }
  series.matters_mb = std::max(unit == SeriesUnit::count ? kSmallestGrowthCount : kSmallestGrowthMb,
                               kSmallestShareOfHeap * peak);
  return judge_site(series, series_clock(clock, context, policy), policy);
}

}  // namespace plateau
