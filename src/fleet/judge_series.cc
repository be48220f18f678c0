// SPDX-License-Identifier: Apache-2.0
#include "fleet/judge_series.h"

#include <algorithm>
#include <cmath>

#include "fleet/interpolate.h"

namespace plateau::fleet {
namespace {

// Odds of one to three, where the load is known to be level.
constexpr double kSuspectLogOdds = -1.1;

void add_load(const std::vector<Sample>& load, double begin_s, Run& run) {
  Gauge gauge{.name = "load", .process = 0, .value = {}};
  gauge.value.reserve(run.instants.size());
  for (const Instant& instant : run.instants) {
    gauge.value.push_back(interpolated(load, instant.time_s + begin_s));
  }
  run.gauges.push_back(std::move(gauge));
}

void draw_spark(const std::vector<Sample>& samples, std::array<float, kSparkPoints>& spark) {
  spark.fill(std::nanf(""));
  const double begin = samples.front().at_s;
  const double span = std::max(samples.back().at_s - begin, 1e-9);
  for (const Sample& sample : samples) {
    const double place = (sample.at_s - begin) / span * kSparkPoints;
    const size_t i = std::min(static_cast<size_t>(place), kSparkPoints - 1);
    // The highest of each stretch: a spike is what kills.
    if (!(spark[i] >= static_cast<float>(sample.value)))
      spark[i] = static_cast<float>(sample.value);
  }
}

LifeSeries without_wave(const JudgedSeries& judged, const KnownLoad& load) {
  LifeSeries series = judged.series;
  if (!load.wave.empty()) take_off(load.wave, series.samples);
  return series;
}

SeriesVerdict sum_up(const JudgedSeries& judged, const Verdict& verdict) {
  const std::vector<Sample>& samples = judged.series.samples;
  SeriesVerdict kept;
  kept.name = judged.name;
  kept.word = verdict.word;
  kept.confidence = verdict.confidence;
  if (verdict.word == Word::leak) {
    kept.log_factor =
        std::log((kFactorOfWord + std::exp(kPowerOfOdds * verdict.leak_odds.shapes)) / 2);
  } else if (verdict.word == Word::undecided) {
    kept.log_factor = verdict.leak_odds.all;
  } else {
    kept.log_factor = std::min(verdict.leak_odds.all, 0.0);
  }
  // Odds of "all" are leak : (ends + fills), of "shapes" leak : ends.
  const double fills =
      std::exp(-verdict.leak_odds.all) - std::exp(-verdict.leak_odds.shapes);  // Against a leak.
  kept.still_filling = fills > 0 ? fills / (1 + fills) : 0;
  if (verdict.clock == Clock::seconds) kept.rate_mb_per_s = verdict.rate_mb_per_step;
  if (verdict.settled) kept.rate_mb_per_s = 0;
  kept.last_mb = samples.back().value;
  kept.limit_mb = judged.limit_mb;
  if (judged.limit_mb && kept.rate_mb_per_s > 0) {
    kept.limit_in_s = std::max(0.0, *judged.limit_mb - kept.last_mb) / kept.rate_mb_per_s;
  }
  kept.first_s = samples.front().at_s;
  kept.last_s = samples.back().at_s;
  kept.samples = samples.size();
  kept.lives = judged.series.lives();
  if (judged.limit_mb) kept.deaths = deaths_at_limit(judged.series, *judged.limit_mb);
  kept.held_back = verdict.may_follow_load && verdict.held_back_until_step.has_value();
  draw_spark(samples, kept.spark);
  return kept;
}

}  // namespace

KnownLoad level_load(const JudgedSeries& judged) {
  return {.source = LoadSource::none, .wave = {{judged.begin_s, 0}}, .work = {}};
}

SeriesVerdict judge_at_level_load(const JudgedSeries& judged) {
  return judge_under_load(judged, level_load(judged));
}

bool is_suspect(const SeriesVerdict& verdict) {
  return verdict.word == Word::leak || verdict.drift.way == Drift::Way::climbs ||
         (verdict.word == Word::undecided && verdict.log_factor > kSuspectLogOdds);
}

Run run_under_load(const JudgedSeries& judged, const KnownLoad& load) {
  Run run = run_of(without_wave(judged, load), judged.kind, judged.begin_s);
  if (!load.work.empty()) {
    add_load(load.work, judged.begin_s, run);
  } else if (!load.wave.empty()) {
    add_load({{judged.begin_s, 1}}, judged.begin_s, run);  // What is left is under a level one.
  }
  return run;
}

SeriesVerdict judge_under_load(const JudgedSeries& judged, const KnownLoad& load) {
  SeriesVerdict verdict = sum_up(judged, judge(run_under_load(judged, load)));
  verdict.load = load.source;
  verdict.established = judged.established;
  // Whether it was level before, only the same hours of an earlier day tell.
  if (judged.established && !load.wave.empty()) {
    verdict.drift = drift_of(without_wave(judged, load).samples);
  }
  verdict.new_version = load.new_version;
  return verdict;
}

}  // namespace plateau::fleet
