// SPDX-License-Identifier: Apache-2.0
#include "verdict/signal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace plateau {
namespace {

// Column of each metric for one process; nullptr where the log has none.
using ProcessColumns = std::array<const Series*, kMetricCount>;

std::vector<ProcessColumns> columns_by_process(const Run& run) {
  std::vector<ProcessColumns> columns(run.processes.size(), ProcessColumns{});
  for (const Series& series : run.series) {
    const Series*& slot = columns[series.process][static_cast<size_t>(series.metric)];
    if (slot == nullptr) slot = &series;
  }
  return columns;
}

double value_at(const ProcessColumns& columns, Metric metric, size_t instant) {
  const Series* series = columns[static_cast<size_t>(metric)];
  return series == nullptr ? kMissing : series->mb[instant];
}

// Owned memory of one process at one instant, by the ladder in the header; NaN if nothing is known.
double owned_at(const ProcessColumns& columns, size_t instant) {
  const auto get = [&](Metric metric) { return value_at(columns, metric, instant); };
  const double swap = std::isfinite(get(Metric::swap)) ? get(Metric::swap) : 0.0;
  if (std::isfinite(get(Metric::pss_anon))) return get(Metric::pss_anon) + swap;
  const double anon = get(Metric::anon);
  const double pss = get(Metric::pss);
  if (std::isfinite(anon) && std::isfinite(pss)) return std::min(anon, pss) + swap;
  if (std::isfinite(anon)) return anon + swap;
  if (std::isfinite(pss)) return pss + swap;
  for (const Metric metric : {Metric::uss, Metric::rss, Metric::memory}) {
    if (std::isfinite(get(metric))) return get(metric);
  }
  return kMissing;
}

// One kind of page of one process at one instant. Of shared and file-backed pages the proportional
// figure is taken where there is one: summed over a tree, the plain one counts them once per
// mapper. Shared memory that only descriptors hold is in neither, and is added.
double kind_at(const ProcessColumns& columns, Metric metric, size_t instant) {
  const auto get = [&](Metric which) { return value_at(columns, which, instant); };
  double mb = get(metric);
  if (metric == Metric::file && std::isfinite(get(Metric::pss_file))) mb = get(Metric::pss_file);
  if (metric == Metric::shmem) {
    if (std::isfinite(get(Metric::pss_shmem))) mb = get(Metric::pss_shmem);
    const double unmapped = get(Metric::shmem_unmapped);
    if (std::isfinite(unmapped)) mb = (std::isfinite(mb) ? mb : 0) + unmapped;
  }
  return mb;
}

// Which rung of the ladder the log stands on, in words.
std::string owned_measure(const std::vector<ProcessColumns>& columns, size_t processes) {
  const auto has = [&](Metric metric) {
    return std::any_of(columns.begin(), columns.end(), [metric](const ProcessColumns& of) {
      return of[static_cast<size_t>(metric)] != nullptr;
    });
  };
  std::string what = "memory as logged";
  if (has(Metric::pss_anon)) {
    what = "anonymous memory, shared pages divided (Pss_Anon)";
  } else if (has(Metric::anon) && has(Metric::pss)) {
    what = "anonymous memory (the smaller of RssAnon and PSS)";
  } else if (has(Metric::anon)) {
    what = "anonymous memory (RssAnon)";
  } else if (has(Metric::pss)) {
    what = "PSS";
  } else if (has(Metric::uss)) {
    what = "USS";
  } else if (has(Metric::rss)) {
    what = "RSS";
  }
  if (has(Metric::swap)) what += " + swap";
  if (processes > 1) what += ", summed over " + std::to_string(processes) + " processes";
  return what;
}

Clock choose_clock(const Run& run) {
  if (run.has_steps()) return Clock::steps;
  if (run.has_times()) return Clock::seconds;
  return Clock::samples;
}

// Clock value per instant. Seconds count from the first instant.
std::vector<double> clock_values(const Run& run, Clock clock) {
  std::vector<double> values(run.instants.size());
  for (size_t i = 0; i < values.size(); ++i) {
    switch (clock) {
      case Clock::steps:
        values[i] = static_cast<double>(run.instants[i].step);
        break;
      case Clock::seconds:
        values[i] = run.instants[i].time_s - run.instants[0].time_s;
        break;
      case Clock::samples:
        values[i] = static_cast<double>(i);
        break;
    }
  }
  return values;
}

// Sorts by clock and keeps one value per clock reading: the smallest, because two samples within
// one step differ by what is temporary.
std::vector<TimedValue> tidy(std::vector<TimedValue> points) {
  std::stable_sort(points.begin(), points.end(),
                   [](const TimedValue& a, const TimedValue& b) { return a.at < b.at; });
  std::vector<TimedValue> kept;
  kept.reserve(points.size());
  for (const TimedValue& point : points) {
    if (!kept.empty() && kept.back().at == point.at) {
      kept.back().mb = std::min(kept.back().mb, point.mb);
    } else {
      kept.push_back(point);
    }
  }
  return kept;
}

// Sum over processes of `value(process, instant)`; instants where no process has one are left out.
template <typename Value>
std::vector<TimedValue> tree_sum(const Signals& signals, size_t processes, Value value) {
  std::vector<TimedValue> points;
  for (size_t i = 0; i < signals.clock_of_instant.size(); ++i) {
    double sum = 0;
    bool any = false;
    for (size_t p = 0; p < processes; ++p) {
      const double mb = value(p, i);
      if (!std::isfinite(mb)) continue;
      sum += mb;
      any = true;
    }
    if (any) points.push_back({signals.clock_of_instant[i], std::max(0.0, sum)});
  }
  return tidy(std::move(points));
}

void add_component(Signals& signals, Component component) {
  if (component.points.empty()) return;
  component.primary = signals.components.empty();
  signals.components.push_back(std::move(component));
}

std::vector<double> clock_of_events(const Run& run, const Signals& signals, EventKind kind) {
  std::vector<double> at;
  for (const Event& event : run.events) {
    if (event.kind == kind) at.push_back(signals.clock_of_instant[event.instant]);
  }
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  return at;
}

}  // namespace

Signals extract_signals(const Run& run) {
  Signals signals;
  signals.clock = choose_clock(run);
  signals.clock_of_instant = clock_values(run, signals.clock);
  const std::vector<ProcessColumns> columns = columns_by_process(run);
  const size_t processes = run.processes.size();

  add_component(signals, {.name = "owned",
                          .measure = owned_measure(columns, processes),
                          .points = tree_sum(signals, processes, [&](size_t p, size_t i) {
                            return owned_at(columns[p], i);
                          })});
  struct Other {
    Metric metric;
    const char* name;
    const char* measure;
    bool reclaimable;
  };
  constexpr std::array<Other, 6> kOthers = {{
      {Metric::shmem, "shmem", "shared memory", false},
      {Metric::file, "file", "file-backed pages", true},
      {Metric::swap, "swap", "memory swapped out (part of owned)", false},
      {Metric::gpu, "gpu", "GPU memory in use", false},
      {Metric::gpu_reserved, "gpu_reserved", "GPU memory held by the caching allocator", false},
      {Metric::system_used, "system", "memory in use on the whole machine", false},
  }};
  for (const Other& other : kOthers) {
    add_component(signals, {.name = other.name,
                            .measure = other.measure,
                            .reclaimable = other.reclaimable,
                            .points = tree_sum(signals, processes, [&](size_t p, size_t i) {
                              return kind_at(columns[p], other.metric, i);
                            })});
  }

  signals.owned_of_process.resize(processes);
  signals.process_count.assign(run.instants.size(), 0);
  for (size_t p = 0; p < processes; ++p) {
    std::vector<TimedValue> points;
    for (size_t i = 0; i < run.instants.size(); ++i) {
      const double mb = owned_at(columns[p], i);
      if (!std::isfinite(mb)) continue;
      points.push_back({signals.clock_of_instant[i], mb});
      signals.process_count[i] += 1;
    }
    signals.owned_of_process[p] = tidy(std::move(points));
  }
  signals.evaluations = clock_of_events(run, signals, EventKind::eval);
  signals.checkpoints = clock_of_events(run, signals, EventKind::checkpoint);
  return signals;
}

}  // namespace plateau
