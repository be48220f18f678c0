// SPDX-License-Identifier: Apache-2.0
#include "verdict/signal.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace plateau {
namespace {

// The last moments of a job, and the fall in them that is an exit; see the header.
constexpr double kLastMomentsSeconds = 2;
constexpr double kLastMomentsShare = 0.02;
constexpr double kFallShare = 0.1;

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
  const auto earlier = [](const TimedValue& a, const TimedValue& b) { return a.at < b.at; };
  if (!std::is_sorted(points.begin(), points.end(), earlier)) {
    std::stable_sort(points.begin(), points.end(), earlier);
  }
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

// Values of one process, carried over gaps of one instant: it vanished from the reader only.
template <typename Value>
std::vector<double> without_gaps(size_t instants, Value value) {
  std::vector<double> values(instants);
  for (size_t i = 0; i < instants; ++i) values[i] = value(i);
  for (size_t i = 1; i + 1 < instants; ++i) {
    const bool gap = !std::isfinite(values[i]) && std::isfinite(values[i - 1]);
    if (gap && std::isfinite(values[i + 1])) values[i] = values[i - 1];
  }
  return values;
}

void add_to(double& sum, double mb) {
  if (std::isfinite(mb)) sum = std::isfinite(sum) ? sum + mb : mb;
}

// The first `count` of `values`, the last of them replaced: carrying over a gap looks one instant
// ahead, and at the end of a prefix there is none.
std::vector<double> cut(const std::vector<double>& values, size_t count, double last) {
  std::vector<double> first(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
  if (count > 0) first.back() = last;
  return first;
}

// The finite values of the instants that count.
std::vector<TimedValue> working_points(const Signals& signals, const std::vector<double>& mb) {
  std::vector<TimedValue> points;
  points.reserve(mb.size());
  for (size_t i = 0; i < mb.size(); ++i) {
    if (!signals.working[i] || !std::isfinite(mb[i])) continue;
    points.push_back({signals.clock_of_instant[i], std::max(0.0, mb[i])});
  }
  return tidy(std::move(points));
}

bool is_over(const Run& run) {
  using Kind = Ending::Kind;
  const Kind kind = run.ending.kind;
  return kind == Kind::exited || kind == Kind::signaled || kind == Kind::oom_killed ||
         kind == Kind::vanished;
}

// The first instant of the last moments: from here on a fall may be the exit.
size_t last_moments(const Run& run, const Signals& signals) {
  const size_t count = run.instants.size();
  const auto among_last = [&](size_t i) {
    if (signals.clock == Clock::steps) return run.instants[i].step == run.instants.back().step;
    const double end_s = run.instants.back().time_s;
    const double share_s = kLastMomentsShare * (end_s - run.instants.front().time_s);
    return run.instants[i].time_s >= end_s - std::max(kLastMomentsSeconds, share_s);
  };
  size_t first = count;
  while (first > 0 && among_last(first - 1)) --first;
  return first;
}

// The number of instants before the final fall of a job that has ended.
size_t before_the_fall(const Run& run, const Signals& signals, const std::vector<double>& owned) {
  const size_t count = run.instants.size();
  if (!is_over(run) || !run.has_times()) return count;
  const size_t first = last_moments(run, signals);
  // What was held right before belongs to the comparison.
  double held = first > 0 && std::isfinite(owned[first - 1]) ? owned[first - 1] : 0;
  size_t kept = count;
  for (size_t i = first; i < count; ++i) {
    const bool fell = !std::isfinite(owned[i]) || owned[i] <= (1 - kFallShare) * held;
    if (!fell) kept = count;
    if (fell && kept == count) kept = i;
    if (std::isfinite(owned[i])) held = std::max(held, owned[i]);
  }
  return std::max<size_t>(kept, 1);
}

// Marks the instants that count, by the rules of the header.
void mark_working(const Run& run, const std::vector<double>& owned, Signals& signals) {
  const std::vector<double>& clock = signals.clock_of_instant;
  const size_t count = before_the_fall(run, signals, owned);
  signals.working.assign(clock.size(), false);
  const auto end = clock.begin() + static_cast<std::ptrdiff_t>(std::min(count, clock.size()));
  if (clock.begin() == end) return;
  const auto [low, high] = std::minmax_element(clock.begin(), end);
  std::fill(signals.working.begin(), signals.working.begin() + (end - clock.begin()), true);
  if (*low == *high) return;
  // Only Plateau's own recordings know the command; they begin with the job.
  const bool starts_up = run.has_times() && signals.clock == Clock::steps &&
                         (!run.command.empty() || std::count(clock.begin(), end, *low) > 1);
  bool ended = false;
  for (auto at = clock.begin(); at != end; ++at) {
    const auto i = static_cast<size_t>(at - clock.begin());
    if (starts_up && *at == *low) signals.working[i] = false;
    if (*at != *high) continue;
    if (ended) signals.working[i] = false;
    ended = true;
  }
  const auto began = static_cast<size_t>(
      std::find(signals.working.begin(), signals.working.end(), true) - signals.working.begin());
  if (std::isfinite(owned[0]) && std::isfinite(owned[began])) {
    signals.start_up_mb = std::max(0.0, owned[began] - owned[0]);
  }
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

struct OtherKind {
  Metric metric;
  const char* name;
  const char* measure;
  bool reclaimable;
};
constexpr std::array<OtherKind, TreeColumns::kOtherKinds> kOthers = {{
    {Metric::shmem, "shmem", "shared memory", false},
    {Metric::file, "file", "file-backed pages", true},
    {Metric::swap, "swap", "memory swapped out (part of owned)", false},
    {Metric::gpu, "gpu", "GPU memory in use", false},
    {Metric::gpu_reserved, "gpu_reserved", "GPU memory held by the caching allocator", false},
    {Metric::system_used, "system", "memory in use on the whole machine", false},
}};

}  // namespace

struct TreeColumns::Sources {
  std::vector<ProcessColumns> of_process;
};

TreeColumns::TreeColumns(const Run& run)
    : sources_(std::make_unique<Sources>(Sources{columns_by_process(run)})) {
  const std::vector<ProcessColumns>& columns = sources_->of_process;
  const size_t instants = run.instants.size();
  const auto add_process = [instants](std::vector<double>& sum, const std::vector<double>& mb) {
    for (size_t i = 0; i < instants; ++i) add_to(sum[i], mb[i]);
  };
  owned_.assign(instants, kMissing);
  owned_of_process_.reserve(columns.size());
  for (const ProcessColumns& of : columns) {
    owned_of_process_.push_back(
        without_gaps(instants, [&of](size_t i) { return owned_at(of, i); }));
    add_process(owned_, owned_of_process_.back());
  }
  for (size_t k = 0; k < kOtherKinds; ++k) {
    others_[k].assign(instants, kMissing);
    for (const ProcessColumns& of : columns) {
      const auto kind_of = [&](size_t i) { return kind_at(of, kOthers[k].metric, i); };
      add_process(others_[k], without_gaps(instants, kind_of));
    }
  }
}

TreeColumns::~TreeColumns() = default;

std::string_view TreeColumns::other_name(size_t kind) {
  return kOthers[kind].name;
}

Signals TreeColumns::signals(const Run& prefix) const {
  Signals signals;
  signals.clock = choose_clock(prefix);
  signals.clock_of_instant = clock_values(prefix, signals.clock);
  const std::vector<ProcessColumns>& columns = sources_->of_process;
  const size_t count = prefix.instants.size();
  const size_t last = count - 1;  // Used only where there is one.
  const auto sum_at_end = [&](auto value) {
    double sum = kMissing;
    for (const ProcessColumns& of : columns) {
      if (count > 0) add_to(sum, value(of));
    }
    return sum;
  };
  const std::vector<double> owned = cut(
      owned_, count, sum_at_end([last](const ProcessColumns& of) { return owned_at(of, last); }));
  mark_working(prefix, owned, signals);
  add_component(signals, {.name = "owned",
                          .measure = owned_measure(columns, columns.size()),
                          .points = working_points(signals, owned)});
  for (size_t k = 0; k < kOtherKinds; ++k) {
    const OtherKind& other = kOthers[k];
    const double at_end =
        sum_at_end([&](const ProcessColumns& of) { return kind_at(of, other.metric, last); });
    add_component(signals, {.name = other.name,
                            .measure = other.measure,
                            .reclaimable = other.reclaimable,
                            .points = working_points(signals, cut(others_[k], count, at_end))});
  }
  signals.owned_of_process.reserve(columns.size());
  signals.process_count.assign(count, kMissing);
  for (size_t p = 0; p < columns.size(); ++p) {
    const std::vector<double> mb =
        cut(owned_of_process_[p], count, count > 0 ? owned_at(columns[p], last) : kMissing);
    for (size_t i = 0; i < count; ++i) {
      if (signals.working[i] && std::isfinite(mb[i])) add_to(signals.process_count[i], 1);
    }
    signals.owned_of_process.push_back(working_points(signals, mb));
  }
  signals.evaluations = clock_of_events(prefix, signals, EventKind::eval);
  signals.checkpoints = clock_of_events(prefix, signals, EventKind::checkpoint);
  return signals;
}

Signals extract_signals(const Run& run) {
  return TreeColumns(run).signals(run);
}

}  // namespace plateau
