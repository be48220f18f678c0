// SPDX-License-Identifier: Apache-2.0
#include "fleet/life_series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/statistics.h"

namespace plateau::fleet {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
// As many intervals without a sample are a gap.
constexpr double kGap = 3;
// An end is a fall below this share of what was held, for so many samples after as many before: a
// spike of fewer is none.
constexpr double kFallen = 0.5;
constexpr size_t kLasting = 5;
constexpr size_t kMostFalls = 2;
// Exporters compute start times anew at each scrape, from a boot time that wavers.
constexpr double kSameStartS = 5;

bool same_life_labels(const Labels& a, const Labels& b) {
  const auto ids = [](const Labels& labels) {
    std::string text;
    for (const auto& [name, value] : labels.all()) {
      if (names_life(name)) text.append(name).append(1, '\x01').append(value).append(1, '\x02');
    }
    return text;
  };
  return ids(a) == ids(b);
}

// Puts what `other` has in the gaps of `base` there.
void fill_gaps(const std::vector<Sample>& other, std::vector<Sample>& base) {
  const double gap = kGap * interval_of(base);
  std::vector<Sample> filled;
  size_t next = 0;
  for (size_t i = 0; i <= base.size(); ++i) {
    const bool at_end = i == base.size();
    const double from = i == 0 ? -kForever : base[i - 1].at_s;
    const double to = at_end ? kForever : base[i].at_s;
    const bool open = i == 0 || at_end || to - from > gap;
    while (next < other.size() && other[next].at_s <= from) ++next;
    while (next < other.size() && other[next].at_s < to) {
      // Not beside a sample of the base: two scrapers look at slightly different times.
      const bool apart =
          other[next].at_s - from > gap / kGap / 2 && to - other[next].at_s > gap / kGap / 2;
      if (open && apart) filled.push_back(other[next]);
      ++next;
    }
    if (!at_end) filled.push_back(base[i]);
  }
  base = std::move(filled);
}

double overlap_s(const std::vector<Sample>& a, const std::vector<Sample>& b) {
  return std::min(a.back().at_s, b.back().at_s) - std::max(a.front().at_s, b.front().at_s);
}

void cut_at_starts(const std::vector<Sample>& starts, LifeSeries& series) {
  for (size_t i = 1; i < starts.size(); ++i) {
    if (std::fabs(starts[i].value - starts[i - 1].value) <= kSameStartS) continue;
    const auto first =
        std::lower_bound(series.samples.begin(), series.samples.end(), starts[i].at_s,
                         [](const Sample& sample, double at) { return sample.at_s < at - 1e-3; });
    if (first == series.samples.begin() || first == series.samples.end()) continue;
    series.life_begins.push_back(first->at_s);
  }
}

void cut_at_falls(LifeSeries& series) {
  const std::vector<Sample>& samples = series.samples;
  const double gap = kGap * interval_of(samples);
  std::vector<double> after_gap, plain;
  for (size_t i = kLasting; i + kLasting <= samples.size(); ++i) {
    if (!(samples[i].value < kFallen * samples[i - 1].value)) continue;
    double before = samples[i - 1].value, after = samples[i].value;
    for (size_t k = 1; k <= kLasting; ++k) before = std::min(before, samples[i - k].value);
    for (size_t k = 0; k < kLasting; ++k) after = std::max(after, samples[i + k].value);
    if (!(after < kFallen * before)) continue;
    const bool gapped = samples[i].at_s - samples[i - 1].at_s > gap;
    (gapped ? after_gap : plain).push_back(samples[i].at_s);
  }
  series.life_begins = std::move(after_gap);
  if (plain.size() <= kMostFalls) {
    series.life_begins.insert(series.life_begins.end(), plain.begin(), plain.end());
  }
}

}  // namespace

double interval_of(const std::vector<Sample>& samples) {
  std::vector<double> gaps;
  for (size_t i = 1; i < samples.size(); ++i) {
    gaps.push_back(samples[i].at_s - samples[i - 1].at_s);
  }
  return upper_median(gaps);
}

void add_samples(const std::vector<Sample>& more, std::vector<Sample>& to) {
  size_t next = 0;
  for (Sample& sample : to) {
    while (next < more.size() && more[next].at_s < sample.at_s) ++next;
    if (next < more.size() && more[next].at_s == sample.at_s) sample.value += more[next].value;
  }
}

LifeSeries join_series(std::vector<RawSeries> parts, const std::vector<Sample>& starts) {
  std::erase_if(parts, [](const RawSeries& part) { return part.samples.empty(); });
  std::stable_sort(parts.begin(), parts.end(), [](const RawSeries& a, const RawSeries& b) {
    return a.samples.front().at_s < b.samples.front().at_s;
  });
  LifeSeries joined;
  const Labels* last = nullptr;
  for (RawSeries& part : parts) {
    std::vector<Sample>& held = joined.samples;
    if (held.empty()) {
      held = std::move(part.samples);
      last = &part.labels;
      continue;
    }
    const double shorter = std::min(held.back().at_s - held.front().at_s,
                                    part.samples.back().at_s - part.samples.front().at_s);
    if (overlap_s(held, part.samples) > shorter / 2) {
      ++joined.duplicates;
      if (part.samples.size() > held.size()) std::swap(part.samples, held);
      fill_gaps(part.samples, held);
      continue;
    }
    // The older one may linger for a scrape or two.
    while (!held.empty() && held.back().at_s >= part.samples.front().at_s) held.pop_back();
    if (!held.empty() && !same_life_labels(*last, part.labels)) {
      joined.life_begins.push_back(part.samples.front().at_s);
    }
    held.insert(held.end(), part.samples.begin(), part.samples.end());
    last = &part.labels;
  }
  if (!starts.empty()) {
    cut_at_starts(starts, joined);
  } else if (joined.life_begins.empty()) {
    cut_at_falls(joined);
  }
  std::sort(joined.life_begins.begin(), joined.life_begins.end());
  const auto same = std::unique(joined.life_begins.begin(), joined.life_begins.end());
  joined.life_begins.erase(same, joined.life_begins.end());
  return joined;
}

Run run_of(const LifeSeries& series, Metric kind, double begin_s) {
  Run run;
  run.format = "fleet";
  const size_t count = series.samples.size();
  size_t life = 0;
  run.instants.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const double at_s = series.samples[i].at_s;
    run.instants.push_back({.step = -1, .time_s = at_s - begin_s});
    while (life < series.life_begins.size() && at_s >= series.life_begins[life]) ++life;
    while (run.series.size() <= life) {
      const size_t process = run.processes.size();
      Process made;
      made.id = static_cast<int64_t>(process);
      run.processes.push_back(std::move(made));
      run.series.push_back({.process = process,
                            .metric = kind,
                            .label = "",
                            .mb = std::vector<double>(count, kMissing)});
    }
    run.series[life].mb[i] = series.samples[i].value;
  }
  return run;
}

}  // namespace plateau::fleet
