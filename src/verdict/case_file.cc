// SPDX-License-Identifier: Apache-2.0
#include "verdict/case_file.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/statistics.h"
#include "recording/facts.h"
#include "verdict/epoch_end.h"
#include "verdict/examples_seen.h"
#include "verdict/largest_cache.h"
#include "verdict/load.h"

namespace plateau {
namespace {

// From this share of the weight on, growth is said to follow the count of new examples.
constexpr double kFollows = 0.3;

double median_of(const std::vector<double>& values, size_t from, size_t count) {
  std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(from),
                           values.begin() + static_cast<std::ptrdiff_t>(from + count));
  return upper_median(part);
}

CountTrend trend_of(std::string name, const std::vector<double>& values) {
  std::vector<double> known;
  for (const double v : values) {
    if (std::isfinite(v)) known.push_back(v);
  }
  CountTrend trend{.name = std::move(name)};
  if (known.size() < 4) {
    if (!known.empty()) trend.first = known.front(), trend.last = known.back();
    return trend;
  }
  const size_t quarter = known.size() / 4;
  trend.first = median_of(known, 0, quarter);
  trend.last = median_of(known, known.size() - quarter, quarter);
  const double middle =
      median_of(known, known.size() / 2 - quarter / 2, std::max<size_t>(quarter, 1));
  trend.rise = (trend.last - trend.first) / std::max(trend.first, 1.0);
  trend.rising = trend.rise > 0.1 && trend.last > middle;
  return trend;
}

// What copy-on-write compares, on the instants [from, to) that count and over the processes that
// are there both early and late. A fork or an exit within the comparison would look like copies.
struct Comparison {
  std::vector<size_t> instants;
  std::vector<bool> compared;  // Per process.
};

// Begins when the last of the processes that live for most of the run is there, because workers are
// forked within the first steps. Ends with the first of them that ends well before the run does:
// workers that are forked anew in the second epoch take their RSS with them, and pages that nobody
// shares any more are no copies.
Comparison long_lived(const Run& run, const Signals& signals) {
  std::vector<size_t> working;
  for (size_t i = 0; i < run.instants.size(); ++i) {
    if (signals.working[i]) working.push_back(i);
  }
  Comparison comparison{.instants = {}, .compared = std::vector<bool>(run.processes.size(), false)};
  size_t begin = 0, end = working.size();
  for (const Series& series : run.series) {
    if (series.metric != Metric::rss) continue;
    size_t first = working.size(), last = 0, alive = 0;
    for (size_t k = 0; k < working.size(); ++k) {
      if (!std::isfinite(series.mb[working[k]])) continue;
      first = std::min(first, k);
      last = k;
      ++alive;
    }
    if (2 * alive < working.size()) continue;
    comparison.compared[series.process] = true;
    begin = std::max(begin, first);
    // What ends in the last tenth is how every job ends.
    if (last + 1 + working.size() / 10 < working.size()) end = std::min(end, last + 1);
  }
  if (end < begin) return comparison;
  comparison.instants.assign(working.begin() + static_cast<std::ptrdiff_t>(begin),
                             working.begin() + static_cast<std::ptrdiff_t>(end));
  return comparison;
}

// Median of the last tenth over median of the first, at least three instants each.
std::optional<double> tree_growth(const Run& run, const Comparison& comparison, Metric metric) {
  std::vector<double> sum(run.instants.size(), kMissing);
  for (const Series& series : run.series) {
    if (series.metric != metric || !comparison.compared[series.process]) continue;
    for (const size_t i : comparison.instants) {
      if (!std::isfinite(series.mb[i])) continue;
      sum[i] = std::isfinite(sum[i]) ? sum[i] + series.mb[i] : series.mb[i];
    }
  }
  std::erase_if(sum, [](double v) { return !std::isfinite(v); });
  if (sum.size() < 2) return std::nullopt;
  const size_t part = std::min(std::max<size_t>(sum.size() / 10, 3), sum.size() / 2);
  return median_of(sum, sum.size() - part, part) - median_of(sum, 0, part);
}

// Gauges are of all kinds; those of time, of memory and of shares are no counts.
bool is_count(std::string_view name) {
  constexpr std::array<std::string_view, 9> kUnits = {"_s",     "_ms",  "_kb",    "_mb",   "_gb",
                                                      "_bytes", "_pct", "_share", "_ratio"};
  return std::none_of(kUnits.begin(), kUnits.end(),
                      [name](std::string_view unit) { return name.ends_with(unit); });
}

void collect_counts(const Run& run, const Signals& signals, CaseFile& file) {
  // Gauges of one name are summed over processes.
  std::vector<std::string> names;
  for (const Gauge& gauge : run.gauges) {
    if (!is_count(gauge.name)) continue;
    if (std::find(names.begin(), names.end(), gauge.name) == names.end())
      names.push_back(gauge.name);
  }
  for (const std::string& name : names) {
    std::vector<double> sum(run.instants.size(), kMissing);
    for (const Gauge& gauge : run.gauges) {
      if (gauge.name != name) continue;
      for (size_t i = 0; i < sum.size(); ++i) {
        if (!signals.working[i] || !std::isfinite(gauge.value[i])) continue;
        sum[i] = std::isfinite(sum[i]) ? sum[i] + gauge.value[i] : gauge.value[i];
      }
    }
    file.counts.push_back(trend_of(name, sum));
  }
  file.counts.push_back(trend_of("processes", signals.process_count));
}

// The deadline where new examples are counted. `timeline.deadline` is still a length.
void count_examples(const Run& run, const Signals& signals, const Policy& policy,
                    Timeline& timeline) {
  timeline.new_examples =
      new_examples(run, signals.clock_of_instant, timeline.begins, timeline.epoch_steps);
  const NewExamples& of = timeline.new_examples;
  if (of.tell_apart()) {
    const double seen_by = std::max(of.last - timeline.begins, timeline.epoch_steps);
    timeline.deadline = std::min(timeline.deadline, policy.warmup_counted * seen_by);
  } else if (of.come_as_fast()) {
    const double age = signals.clock_of_instant.back() - timeline.begins;
    timeline.deadline = std::max(timeline.deadline, policy.warmup_epochs * age);
  }
}

}  // namespace

CaseFile open_case(const Run& run, const Signals& signals, const Policy& policy) {
  CaseFile file;
  file.run = &run;
  file.signals = &signals;
  Timeline& timeline = file.timeline;
  const bool steps = signals.clock == Clock::steps;
  timeline.in_seconds = signals.clock == Clock::seconds;
  timeline.is_stretch = run.format == kSnapshotFormat;
  const EpochLength epoch = epoch_length_of(run, signals.clock_of_instant, steps);
  timeline.epoch_steps = epoch.length;
  file.epoch_source = epoch.source;
  if (steps && run.context.total_steps) timeline.total_steps = run.context.total_steps->value;
  timeline.deadline = warmup_deadline(signals.clock, timeline.epoch_steps, timeline.total_steps,
                                      policy.warmup_epochs);
  const std::vector<Life>& lives = signals.lives.lives;
  if (lives.size() > 1) {
    timeline.begins = signals.clock_of_instant[lives[signals.lives.judged].from];
  }
  if (steps) count_examples(run, signals, policy, timeline);
  file.repeated = find_repeated(run, signals.lives, signals.clock_of_instant);
  if (file.repeated.count_together() && timeline.epoch_steps <= 0) {
    timeline.deadline /= file.repeated.longer;
  }
  timeline.deadline += timeline.begins;  // A new life warms up anew.
  if (timeline.in_seconds) {
    timeline.largest_cache_mb = largest_cache_mb(run);
    Load load = load_of(run, signals.clock_of_instant);
    if (!load.known && file.repeated.alike == 0) {
      timeline.one_climb_until = timeline.begins + kLongestRiseOfLoadS;
    }
    timeline.load = std::move(load.points);
  }
  timeline.evaluations = signals.evaluations;
  timeline.checkpoints = signals.checkpoints;
  collect_counts(run, signals, file);
  if (run.processes.size() > 1) {
    const Comparison comparison = long_lived(run, signals);
    file.rss_growth_mb = tree_growth(run, comparison, Metric::rss);
    // Plateau's own recordings know Pss_Anon at every instant, PSS only after the first walk.
    file.pss_growth_mb = tree_growth(run, comparison, Metric::pss_anon);
    if (!file.pss_growth_mb) file.pss_growth_mb = tree_growth(run, comparison, Metric::pss);
  }
  return file;
}

std::optional<double> CaseFile::mb_per_new_example() const {
  const Floors& floors = decision().floors;
  const NewExamples& of = timeline.new_examples;
  if (of.seen.empty() || floors.at.empty()) return std::nullopt;
  const double came = of.seen_at(floors.at.back()) - of.seen_at(floors.at.front());
  if (!(came > 0)) return std::nullopt;
  return (floors.mb.back() - floors.mb.front()) / came;
}

const CountTrend* CaseFile::count(std::string_view what) const {
  const CountTrend* found = nullptr;
  for (const CountTrend& trend : counts) {
    std::string_view name = trend.name;
    if (name.starts_with("gc.")) name.remove_prefix(3);
    if (!name.starts_with(what)) continue;
    if (name.size() > what.size() && name[what.size()] != '.') continue;
    if (trend.rising) return &trend;
    if (found == nullptr) found = &trend;
  }
  return found;
}

bool follows_new_examples(const CaseFile& file) {
  return weight_of(file, Family::follows_examples) >= kFollows;
}

Finding following_examples(const CaseFile& file) {
  const NewExamples& of = file.timeline.new_examples;
  Finding finding{
      FindingKind::follows_new_examples,
      {{"seen", of.seen.back().mb}, {"epoch_steps", file.timeline.epoch_steps, Unit::moment}},
      {{"source", file.epoch_source}}};
  if (of.last <= 0) finding.numbers.push_back({"to_see", of.to_see});
  if (const std::optional<double> each = file.mb_per_new_example()) {
    finding.numbers.push_back({"mb_per_example", *each, Unit::mb});
  }
  return finding;
}

bool runs_without_python(const CaseFile& file, const Verdict& verdict) {
  if (file.run->command.empty() || verdict.processes.empty()) return false;
  const ProcessGrowth& first = verdict.processes.front();
  if (!first.id_is_pid || first.name.empty()) return false;
  return !first.name.starts_with("python") && !first.name.starts_with("pypy") &&
         first.name.find(".py") == std::string::npos;
}

bool ended_with_epoch(const CaseFile& file, const Verdict& verdict) {
  const double epoch = file.timeline.epoch_steps;
  if (!verdict.settled || epoch <= 0) return false;
  const double rise = verdict.settled->mb - verdict.first_mb;
  if (rise <= file.decision().tolerated_mb) return false;
  if (ended_at_epoch(verdict.settled->step, epoch)) return true;
  // Workers load ahead of the step: where new examples are counted, the last of them ends the pass.
  const double last = file.timeline.new_examples.last;
  return last <= (1 + kEpochTolerance) * epoch &&
         ended_at_epoch(verdict.settled->step, last, kSiteEpochTolerance);
}

}  // namespace plateau
