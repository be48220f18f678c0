// SPDX-License-Identifier: Apache-2.0
#include "verdict/signal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "recording/facts.h"
#include "verdict/step_spread.h"

namespace plateau {
namespace {

// The last moments of a job, and the fall in them that is an exit; see the header.
constexpr double kLastMomentsSeconds = 2;
constexpr double kLastMomentsShare = 0.02;
// An interpreter that gets little of a busy machine takes seconds to give back what it has.
constexpr double kSlowExitSeconds = 10;
constexpr double kSlowExitShare = 0.1;
constexpr double kFallShare = 0.1;
// A smaller one, at the last step: never seen before in at least so many instants, and more than
// noise.
constexpr size_t kLeastBeforeUnusual = 10;
constexpr double kUnusualTimes = 2;
constexpr double kUnusualFallShare = 0.01;

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

// How much of a kind one process holds at one instant; NaN if nothing is known.
double amount_at(const PageKind& kind, const ProcessColumns& columns, size_t instant) {
  return amount_of(kind, [&](Metric metric) {
    const Series* series = columns[static_cast<size_t>(metric)];
    return series == nullptr ? kMissing : series->mb[instant];
  });
}

// Which rung of its ladder a kind stands on in this log.
Measure measure_of(const PageKind& kind, const std::vector<ProcessColumns>& columns) {
  const auto has = [&](const std::optional<Metric>& metric) {
    return metric && std::any_of(columns.begin(), columns.end(), [&](const ProcessColumns& of) {
             return of[static_cast<size_t>(*metric)] != nullptr;
           });
  };
  for (const Rung& rung : kind.ladder) {
    if (!has(rung.metric) || (rung.or_smaller && !has(rung.or_smaller))) continue;
    return {.metric = rung.metric,
            .what = rung.measure,
            .with_swap = rung.plus == Metric::swap && has(rung.plus)};
  }
  return {};
}

Clock choose_clock(const Run& run) {
  if (run.has_steps()) return Clock::steps;
  if (run.has_times()) return Clock::seconds;
  return Clock::samples;
}

// Clock value per instant. Seconds count from the first instant.
std::vector<double> clock_values(const Run& run, Clock clock) {
  if (clock == Clock::steps) return step_clock(run);
  std::vector<double> values(run.instants.size());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = clock == Clock::seconds ? run.instants[i].time_s - run.instants[0].time_s
                                        : static_cast<double>(i);
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

// All anonymous pages that a process maps, swapped ones with it.
std::vector<double> mapped_of(const ProcessColumns& columns, size_t count) {
  const Series* anon = columns[static_cast<size_t>(Metric::anon)];
  const Series* swap = columns[static_cast<size_t>(Metric::swap)];
  std::vector<double> mapped(count, kMissing);
  for (size_t i = 0; anon != nullptr && i < count; ++i) {
    const double swapped = swap == nullptr ? kMissing : swap->mb[i];
    mapped[i] = anon->mb[i] + (std::isfinite(swapped) ? swapped : 0);
  }
  return mapped;
}

// The first `count` of `values`, the last of them replaced: carrying over a gap looks one instant
// ahead, and at the end of a prefix there is none.
std::vector<double> cut(const std::vector<double>& values, size_t count, double last) {
  std::vector<double> first(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
  if (count > 0) first.back() = last;
  return first;
}

// Which processes can take each other's places: those of one role and, where it is known, of one
// command. A data worker may have any name, because it gives itself one when it has begun.
std::vector<size_t> kinds_of(const Run& run) {
  std::map<std::pair<Role, std::string_view>, size_t> numbers;
  std::vector<size_t> kinds;
  kinds.reserve(run.processes.size());
  for (const Process& process : run.processes) {
    const bool named = process.id_is_pid && process.role != Role::data_worker;
    const std::string_view name = named ? std::string_view(process.name) : std::string_view();
    kinds.push_back(numbers.try_emplace({process.role, name}, numbers.size()).first->second);
  }
  return kinds;
}

// Leaves of `mb` what was read anew: where the gauge that counts its readings, summed over the
// processes, rose.
void blank_repeats(const Run& run, std::string_view counted_by, std::vector<double>& mb) {
  std::vector<double> counted(mb.size(), kMissing);
  for (const Gauge& gauge : run.gauges) {
    if (gauge.name != counted_by) continue;
    for (size_t i = 0; i < mb.size(); ++i) add_known(counted[i], gauge.value[i]);
  }
  double before = 0;
  for (size_t i = 0; i < mb.size(); ++i) {
    if (!(counted[i] > before)) mb[i] = kMissing;
    if (std::isfinite(counted[i])) before = counted[i];
  }
}

// The last value of a gauge, summed over the processes that have it.
std::optional<double> last_of(const Run& run, std::string_view name) {
  double sum = kMissing;
  for (const Gauge& gauge : run.gauges) {
    if (gauge.name != name) continue;
    const auto last = std::find_if(gauge.value.rbegin(), gauge.value.rend(),
                                   [](double value) { return std::isfinite(value); });
    if (last != gauge.value.rend()) add_known(sum, *last);
  }
  return std::isfinite(sum) ? std::optional(sum) : std::nullopt;
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

// The first instant of the last moments: from here on a fall may be the exit.
size_t last_moments(const Run& run, const Signals& signals) {
  const size_t count = run.instants.size();
  const auto among_last = [&](size_t i) {
    if (signals.clock == Clock::steps) return run.instants[i].step == run.instants.back().step;
    const double end_s = run.instants.back().time_s;
    const double run_s = end_s - run.instants.front().time_s;
    const double exit_s = std::min(kSlowExitSeconds, kSlowExitShare * run_s);
    return run.instants[i].time_s >=
           end_s - std::max({kLastMomentsSeconds, kLastMomentsShare * run_s, exit_s});
  };
  size_t first = count;
  while (first > 0 && among_last(first - 1)) --first;
  return first;
}

// How far owned memory fell at most from one instant to the next, before instant `end`.
double usual_fall_mb(const std::vector<double>& owned, size_t end) {
  double fall_mb = 0;
  for (size_t i = 1; i < end; ++i) {
    if (owned[i] < owned[i - 1]) fall_mb = std::max(fall_mb, owned[i - 1] - owned[i]);
  }
  return fall_mb;
}

// The number of instants before the final fall of a job that has ended.
size_t before_the_fall(const Run& run, const Signals& signals, const std::vector<double>& owned) {
  const size_t count = run.instants.size();
  if (!is_over(run) || !run.has_times()) return count;
  const size_t first = last_moments(run, signals);
  // What was held right before belongs to the comparison.
  double held = first > 0 && std::isfinite(owned[first - 1]) ? owned[first - 1] : 0;
  // Where steps tell that it is the end, a smaller fall counts if there was never one as large.
  const double usual_mb = signals.clock == Clock::steps && first >= kLeastBeforeUnusual
                              ? usual_fall_mb(owned, first)
                              : std::numeric_limits<double>::infinity();
  size_t kept = count;
  for (size_t i = first; i < count; ++i) {
    const bool fell =
        !std::isfinite(owned[i]) || owned[i] <= (1 - kFallShare) * held ||
        owned[i] < held - std::max(kUnusualTimes * usual_mb, kUnusualFallShare * held);
    if (!fell) kept = count;
    if (fell && kept == count) kept = i;
    if (std::isfinite(owned[i])) held = std::max(held, owned[i]);
  }
  return std::max<size_t>(kept, 1);
}

// A sample taken while its process was ending: the kernel no longer told its RSS, and the rest of
// it is from the sample before.
bool is_torn(const std::vector<ProcessColumns>& columns, size_t instant) {
  return std::any_of(columns.begin(), columns.end(), [instant](const ProcessColumns& of) {
    const Series* rss = of[static_cast<size_t>(Metric::rss)];
    return rss != nullptr && !std::isfinite(rss->mb[instant]) &&
           std::isfinite(rss->mb[instant - 1]) &&
           std::isfinite(amount_at(kOwnedPages, of, instant));
  });
}

// Marks the instants that count, by the rules of the header.
void mark_working(const Run& run, const std::vector<ProcessColumns>& columns,
                  const std::vector<double>& owned, Signals& signals) {
  const std::vector<double>& clock = signals.clock_of_instant;
  size_t count = before_the_fall(run, signals, owned);
  if (is_over(run) && count > 1 && is_torn(columns, count - 1)) --count;
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

// Follows the processes over the instants that count, and leaves of several lives the judged one.
void follow(const Run& run, const ProcessSums& of_process, const std::vector<double>& tree,
            std::optional<size_t> life_asked, Signals& signals) {
  std::vector<bool>& working = signals.working;
  const auto end = std::find(working.rbegin(), working.rend(), true);
  const auto count = static_cast<size_t>(working.rend() - end);
  const bool steps = signals.clock == Clock::steps;
  const double epoch = epoch_length_of(run, signals.clock_of_instant, steps).length;
  double helper = steps ? kStepsOfHelper : 0;
  if (signals.clock == Clock::seconds) helper = kSecondsOfHelper;
  signals.lives =
      follow_lives(of_process, tree, {signals.clock_of_instant, epoch, helper}, count, life_asked);
  if (signals.lives.lives.size() < 2) return;
  const Life& life = signals.lives.lives[signals.lives.judged];
  for (size_t i = 0; i < working.size(); ++i) {
    if (i < life.from || i >= life.to) working[i] = false;
  }
}

bool held_differs(const Signals& signals, const std::vector<double>& tree) {
  for (size_t i = 0; i < tree.size(); ++i) {
    if (signals.working[i] && signals.lives.held[i] > tree[i]) return true;
  }
  return false;
}

void add_component(Signals& signals, Component component) {
  if (component.points.empty()) return;
  component.primary = signals.components.empty();
  signals.components.push_back(std::move(component));
}

// What a machine is short of it swaps out: memory in use stands still then, and what is asked for
// goes on growing.
void add_swap_to_machine(std::vector<Component>& all) {
  Component& machine = all[0];
  const auto swap =
      std::find_if(all.begin(), all.end(), [](const Component& of) { return of.name == "swap"; });
  if (machine.name != "system" || swap == all.end()) return;
  if (swap->points.size() != machine.points.size()) return;
  for (size_t i = 0; i < swap->points.size(); ++i) machine.points[i].mb += swap->points[i].mb;
  machine.measure.with_swap = true;
}

// Where nothing of the job's own was measured: first what may decide, then the machine's memory,
// and only then swap or file-backed pages.
void lead_with_what_decides(Signals& signals) {
  std::vector<Component>& all = signals.components;
  if (all.empty() || all[0].name == kOwnedPages.name) return;
  const auto place = [](const Component& of) {
    return of.decides ? 0 : of.name == "system" ? 1 : 2;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Component& a, const Component& b) { return place(a) < place(b); });
  for (Component& component : all) component.primary = &component == &all[0];
  add_swap_to_machine(all);
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

bool is_over(const Run& run) {
  using Kind = Ending::Kind;
  const Kind kind = run.ending.kind;
  return kind == Kind::exited || kind == Kind::signaled || kind == Kind::oom_killed ||
         kind == Kind::vanished;
}

struct TreeColumns::Sources {
  std::vector<ProcessColumns> of_process;
  std::vector<size_t> kind;  // By process; see ProcessSums.
  std::vector<bool> worker;
};

TreeColumns::TreeColumns(const Run& run)
    : sources_(std::make_unique<Sources>(Sources{columns_by_process(run), kinds_of(run), {}})) {
  for (const Process& process : run.processes) {
    sources_->worker.push_back(process.role == Role::data_worker);
  }
  const std::vector<ProcessColumns>& columns = sources_->of_process;
  const size_t instants = run.instants.size();
  owned_of_process_.reserve(columns.size());
  for (size_t k = 0; k < kPageKinds.size(); ++k) {
    std::vector<double>& sum = of_kind_[k];
    sum.assign(instants, kMissing);
    for (const ProcessColumns& of : columns) {
      std::vector<double> mb =
          without_gaps(instants, [&](size_t i) { return amount_at(kPageKinds[k], of, i); });
      for (size_t i = 0; i < instants; ++i) add_known(sum[i], mb[i]);
      if (k == 0) owned_of_process_.push_back(std::move(mb));
    }
  }
  for (const std::vector<double>& mb : owned_of_process_) {
    const auto first =
        std::find_if(mb.begin(), mb.end(), [](double value) { return std::isfinite(value); });
    first_seen_.push_back(static_cast<size_t>(first - mb.begin()));
  }
}

TreeColumns::~TreeColumns() = default;

// What the processes hold over the first `count` instants; how much of it to themselves only where
// one came or went, because most runs have none and are judged again and again.
ProcessSums TreeColumns::sums_of(size_t count) const {
  ProcessSums sums;
  const std::vector<ProcessColumns>& columns = sources_->of_process;
  bool all_stay = true;
  for (size_t p = 0; p < columns.size(); ++p) {
    const double at_end = count > 0 ? amount_at(kOwnedPages, columns[p], count - 1) : kMissing;
    sums.owned.push_back(cut(owned_of_process_[p], count, at_end));
    const bool stays = first_seen_[p] == 0 && std::isfinite(at_end);
    all_stay = all_stay && (stays || first_seen_[p] >= count);
  }
  if (all_stay) return sums;
  sums.kind = sources_->kind;
  sums.worker = sources_->worker;
  for (size_t p = 0; p < columns.size(); ++p) {
    const Series* own = columns[p][static_cast<size_t>(Metric::uss)];
    std::vector<double> to_itself = sums.owned[p];
    for (size_t i = 0; own != nullptr && i < count; ++i) {
      if (std::isfinite(own->mb[i])) to_itself[i] = std::min(to_itself[i], own->mb[i]);
    }
    sums.to_itself.push_back(std::move(to_itself));
    sums.mapped.push_back(mapped_of(columns[p], count));
  }
  return sums;
}

Signals TreeColumns::signals(const Run& prefix, std::optional<size_t> life) const {
  Signals signals;
  signals.clock = choose_clock(prefix);
  signals.clock_of_instant = clock_values(prefix, signals.clock);
  const std::vector<ProcessColumns>& columns = sources_->of_process;
  const size_t count = prefix.instants.size();
  const size_t last = count - 1;  // Used only where there is one.
  const ProcessSums of_process = sums_of(count);
  for (size_t k = 0; k < kPageKinds.size(); ++k) {
    const PageKind& kind = kPageKinds[k];
    double at_end = kMissing;
    for (const ProcessColumns& of : columns) {
      if (count > 0) add_known(at_end, amount_at(kind, of, last));
    }
    std::vector<double> mb = cut(of_kind_[k], count, at_end);
    if (!kind.counted_by.empty()) blank_repeats(prefix, kind.counted_by, mb);
    Measure measure = measure_of(kind, columns);
    if (k == 0) {
      mark_working(prefix, columns, mb, signals);
      measure.processes = columns.size();
      follow(prefix, of_process, mb, life, signals);
    }
    Component component{.name = std::string(kind.name),
                        .measure = measure,
                        .decides = kind.decides,
                        .reclaimable = kind.reclaimable,
                        .points = working_points(signals, mb)};
    if (!kind.limited_by.empty()) component.limit_mb = last_of(prefix, kind.limited_by);
    if (k == 0 && held_differs(signals, mb)) {
      component.held = working_points(signals, signals.lives.held);
      component.surviving = working_points(signals, signals.lives.surviving);
    }
    add_component(signals, std::move(component));
  }
  lead_with_what_decides(signals);
  signals.owned_of_process.reserve(columns.size());
  signals.process_count.assign(count, kMissing);
  for (const std::vector<double>& mb : of_process.owned) {
    for (size_t i = 0; i < count; ++i) {
      if (signals.working[i] && std::isfinite(mb[i])) add_known(signals.process_count[i], 1);
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
