// SPDX-License-Identifier: Apache-2.0
#include "verdict/event_growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/statistics.h"
#include "verdict/decision.h"
#include "verdict/floor.h"
#include "verdict/signal.h"

namespace plateau {
namespace {

constexpr double kLogOddsToClaim = 3.0;  // 20 : 1.
constexpr size_t kEventsToClaim = 3;
constexpr double kShareToClaim = 0.5;
constexpr double kLeastCold = 0.05;    // Of the clock, without any event, to know the background.
constexpr size_t kColdPieces = 12;     // Stretches without events are cut at least this finely.
constexpr double kNoiseShare = 0.005;  // No model is exact: of the growth, per stretch,
constexpr double kNoiseMb = 0.25;      // and the allocator's granularity.

// A piece of the run: an event with its aftermath, or a piece without any.
struct Stretch {
  double length = 0;  // On the clock.
  double rise_mb = 0;
  std::array<size_t, kGrowthClocks> events{};  // [step] stays 0.

  [[nodiscard]] bool cold() const {
    return std::all_of(events.begin(), events.end(), [](size_t n) { return n == 0; });
  }
};

size_t slot(GrowthClock clock) {
  return static_cast<size_t>(clock);
}

// The floor while memory grew: what is held and, within that time, never given back again.
std::vector<TimedValue> growing_floor(const Signals& signals, const Verdict& verdict) {
  const auto component =
      std::find_if(signals.components.begin(), signals.components.end(),
                   [&](const Component& of) { return of.name == verdict.component; });
  if (component == signals.components.end()) return {};
  std::vector<TimedValue> floor = find_floors(component->points, Policy().tuning.floors).opened;
  double from = verdict.first_step;
  double to = verdict.last_step;
  if (verdict.settled) {
    to = verdict.settled->step;
  } else if (verdict.word == Word::leak) {
    from += (to - from) / 3;
  }
  std::erase_if(floor, [from](const TimedValue& p) { return p.at < from; });
  const auto end =
      std::find_if(floor.begin(), floor.end(), [to](const TimedValue& p) { return p.at >= to; });
  if (end != floor.end()) floor.erase(end + 1, floor.end());
  for (size_t i = floor.size(); i-- > 1;) {
    floor[i - 1].mb = std::min(floor[i - 1].mb, floor[i].mb);
  }
  return floor;
}

std::vector<double> epoch_ends(const Run& run, const Signals& signals, const Verdict& verdict) {
  std::vector<double> ends;
  for (const Event& event : run.events) {
    if (event.kind == EventKind::epoch) ends.push_back(signals.clock_of_instant[event.instant]);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  const double every = verdict.epoch_steps.value_or(0);
  const double span = verdict.last_step - verdict.first_step;
  // Passes shorter than the distance between samples are steps by another name.
  const bool visible = every * static_cast<double>(verdict.samples) > span;
  if (!ends.empty() || !(every > 0) || !visible) return ends;
  double pass = std::max(1.0, std::ceil(verdict.first_step / every));
  for (; pass * every <= verdict.last_step; ++pass) ends.push_back(pass * every);
  return ends;
}

using EventTimes = std::array<std::vector<double>, kGrowthClocks>;

// How many events of each clock fall after floor[j-1] and not after floor[j].
std::array<size_t, kGrowthClocks> events_in(const EventTimes& times, double after, double until) {
  std::array<size_t, kGrowthClocks> count{};
  for (size_t c = 0; c < kGrowthClocks; ++c) {
    const auto first = std::upper_bound(times[c].begin(), times[c].end(), after);
    count[c] = static_cast<size_t>(std::upper_bound(first, times[c].end(), until) - first);
  }
  return count;
}

// Cuts the floor at the events: each begins a stretch of two intervals, or of one if the next event
// follows at once.
std::vector<Stretch> cut_at_events(const std::vector<TimedValue>& floor, const EventTimes& times) {
  std::vector<Stretch> stretches;
  const size_t longest_cold = std::max<size_t>(floor.size() / kColdPieces, 1);
  size_t intervals = 0;  // In the last stretch.
  for (size_t j = 1; j < floor.size(); ++j) {
    // What happens at the first sample is seen after it.
    const double after = j == 1 ? std::nextafter(floor[0].at, -1e300) : floor[j - 1].at;
    Stretch next{.length = floor[j].at - floor[j - 1].at,
                 .rise_mb = floor[j].mb - floor[j - 1].mb,
                 .events = events_in(times, after, floor[j].at)};
    const bool full =
        stretches.empty() || intervals >= (stretches.back().cold() ? longest_cold : size_t{2});
    if (!next.cold() || full) {
      stretches.push_back(next);
      intervals = 1;
    } else {
      stretches.back().length += next.length;
      stretches.back().rise_mb += next.rise_mb;
      ++intervals;
    }
  }
  return stretches;
}

// Weighted mean with its interval; the weights are lengths or counts of events.
struct MeanRange {
  double mean = 0;
  std::optional<Interval> range;
};
MeanRange mean_of(const std::vector<double>& values, const std::vector<double>& weights) {
  double weight = 0, sum = 0;
  for (size_t i = 0; i < values.size(); ++i) weight += weights[i], sum += weights[i] * values[i];
  MeanRange out{.mean = weight > 0 ? sum / weight : 0, .range = std::nullopt};
  if (values.size() < 2) return out;
  double squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    squares += weights[i] * (values[i] - out.mean) * (values[i] - out.mean);
  }
  const auto n = static_cast<double>(values.size());
  const double error = std::sqrt(squares / weight / (n - 1));
  const double half = student_t90(values.size() - 1) * error;
  out.range = Interval{out.mean - half, out.mean + half};
  return out;
}

// Everything that is counted before a claim is made.
struct Tally {
  std::vector<Stretch> stretches;
  double growth_mb = 0;
  double span = 0;
  double cold_span = 0;
  MeanRange cold_rate;  // Per unit of the clock, outside all events.
  double cold_mb = 0;
};

Tally tally_up(const std::vector<TimedValue>& floor, EventTimes times) {
  Tally tally;
  if (floor.size() < 2) return tally;
  // What an event at the last sample leaves behind has not been seen yet.
  for (std::vector<double>& of : times) {
    std::erase_if(of, [&](double at) { return at >= floor.back().at; });
  }
  tally.stretches = cut_at_events(floor, times);
  tally.growth_mb = floor.back().mb - floor.front().mb;
  tally.span = floor.back().at - floor.front().at;
  std::vector<double> rates, lengths;
  for (const Stretch& stretch : tally.stretches) {
    if (!stretch.cold() || !(stretch.length > 0)) continue;
    rates.push_back(stretch.rise_mb / stretch.length);
    lengths.push_back(stretch.length);
    tally.cold_span += stretch.length;
    tally.cold_mb += stretch.rise_mb;
  }
  tally.cold_rate = mean_of(rates, lengths);
  return tally;
}

// What one clock's events hold.
ClockGrowth measure(const Tally& tally, GrowthClock clock) {
  ClockGrowth out{.clock = clock};
  const size_t c = slot(clock);
  std::vector<double> rises, counts;
  double rise = 0, length = 0;
  const bool knows_background = tally.cold_span >= kLeastCold * tally.span;
  for (const Stretch& stretch : tally.stretches) {
    if (stretch.events[c] == 0) continue;
    const auto count = static_cast<double>(stretch.events[c]);
    out.events += stretch.events[c];
    rise += stretch.rise_mb;
    length += stretch.length;
    rises.push_back((stretch.rise_mb - tally.cold_rate.mean * stretch.length) / count);
    counts.push_back(count);
  }
  if (!(tally.growth_mb > 0) || out.events == 0) return out;
  out.share = rise / tally.growth_mb;
  out.share_expected = length / tally.span;
  if (!knows_background) return out;
  const MeanRange mean = mean_of(rises, counts);
  out.mb_per_event = mean.mean;
  if (!mean.range) return out;
  // The background that was taken off is not known exactly either.
  const Interval cold = tally.cold_rate.range.value_or(Interval{0, 0});
  const double taken_off = (cold.high - cold.low) / 2 * length / static_cast<double>(out.events);
  const double half = std::hypot(mean.range->high - mean.mean, taken_off, kNoiseMb);
  out.range = Interval{mean.mean - half, mean.mean + half};
  return out;
}

ClockGrowth measure_steps(const Tally& tally) {
  ClockGrowth out{.clock = GrowthClock::step};
  out.events = static_cast<size_t>(std::llround(tally.span));
  if (!(tally.growth_mb > 0) || tally.cold_span < kLeastCold * tally.span) return out;
  out.mb_per_event = tally.cold_rate.mean;
  out.range = tally.cold_rate.range;
  out.share = tally.cold_mb / tally.growth_mb;
  out.share_expected = tally.cold_span / tally.span;
  return out;
}

// Log likelihood, up to a constant, of growth that happens at this clock's events only.
double log_likelihood(const Tally& tally, GrowthClock clock) {
  const auto unit = [clock](const Stretch& of) {
    return clock == GrowthClock::step ? of.length : static_cast<double>(of.events[slot(clock)]);
  };
  double xx = 0, xy = 0;
  for (const Stretch& of : tally.stretches) xx += unit(of) * unit(of), xy += unit(of) * of.rise_mb;
  const double each = xx > 0 ? xy / xx : 0;
  double squares = 0;
  for (const Stretch& of : tally.stretches) {
    squares += std::pow(of.rise_mb - each * unit(of), 2);
  }
  const auto n = static_cast<double>(tally.stretches.size());
  const double noise = std::max(kNoiseMb, kNoiseShare * tally.growth_mb);
  return -0.5 * n * std::log(squares / n + noise * noise);
}

bool always_together(const Tally& tally, GrowthClock a, GrowthClock b) {
  return a != GrowthClock::step && b != GrowthClock::step &&
         std::all_of(tally.stretches.begin(), tally.stretches.end(),
                     [&](const Stretch& of) { return of.events[slot(a)] == of.events[slot(b)]; });
}

// Growth with every step goes on all the time: three quarters of the time at least hold a tenth of
// what an even quarter would.
bool grows_all_along(const Tally& tally) {
  std::array<double, 4> quarters{};
  double passed = 0;
  for (const Stretch& of : tally.stretches) {
    const double middle = (passed + of.length / 2) / tally.span;
    quarters[std::min<size_t>(static_cast<size_t>(4 * middle), 3)] += of.rise_mb;
    passed += of.length;
  }
  return std::count_if(quarters.begin(), quarters.end(),
                       [&](double mb) { return mb >= 0.1 * tally.growth_mb / 4; }) >= 3;
}

// The clock that the verdict itself names as the likeliest, if its explanation is one of events.
std::optional<GrowthClock> clock_of_verdict(const Verdict& verdict) {
  if (verdict.explanations.empty() || verdict.explanations.front().weight < 0.5) return {};
  const std::string& name = verdict.explanations.front().name;
  if (name == "per-evaluation") return GrowthClock::eval;
  if (name == "per-checkpoint") return GrowthClock::checkpoint;
  if (name == "per-epoch") return GrowthClock::epoch;
  return {};
}

bool may_claim(const Tally& tally, const ClockGrowth& of) {
  if (of.clock == GrowthClock::step) return grows_all_along(tally);
  return of.events >= kEventsToClaim && of.share.value_or(0) >= kShareToClaim && of.range &&
         of.range->low > 0;
}

// Marks the clock that is followed, and those that cannot be told from it.
void claim(const Tally& tally, const Verdict& verdict, std::vector<ClockGrowth>& clocks) {
  if (clocks.empty()) return;
  std::array<double, kGrowthClocks> likelihood{};
  for (size_t c = 0; c < kGrowthClocks; ++c) {
    likelihood[c] = log_likelihood(tally, static_cast<GrowthClock>(c));
  }
  ClockGrowth* best = nullptr;
  for (ClockGrowth& of : clocks) {
    if (best == nullptr || likelihood[slot(of.clock)] > likelihood[slot(best->clock)]) best = &of;
  }
  const auto beaten = [&](GrowthClock other) {
    return other == best->clock || always_together(tally, other, best->clock) ||
           likelihood[slot(best->clock)] - likelihood[slot(other)] >= kLogOddsToClaim;
  };
  // Steps are the rival of every event, also where the log does not count them.
  bool clear = beaten(GrowthClock::step);
  for (const ClockGrowth& of : clocks) clear = clear && (of.events == 0 || beaten(of.clock));
  const std::optional<GrowthClock> named = clock_of_verdict(verdict);
  const bool agrees =
      !named || *named == best->clock || always_together(tally, *named, best->clock);
  if (!clear || !agrees || !may_claim(tally, *best)) return;
  for (ClockGrowth& of : clocks) {
    of.follows = of.clock == best->clock || always_together(tally, of.clock, best->clock);
  }
}

bool grew(const Tally& tally, const Verdict& verdict) {
  const bool leak = verdict.word == Word::leak;
  const double share = leak ? kMaterialShare : kToleratedShare;
  const double least = leak ? kMaterialMb : kToleratedMb;
  return tally.growth_mb > std::max(least, share * std::max(verdict.last_mb, 0.0));
}

}  // namespace

std::string_view growth_clock_name(GrowthClock clock) {
  constexpr std::array<std::string_view, kGrowthClocks> kNames = {"step", "epoch", "eval",
                                                                  "checkpoint"};
  return kNames[slot(clock)];
}

std::vector<ClockGrowth> growth_by_clock(const Run& run, const Verdict& verdict) {
  const Signals signals = extract_signals(run);
  EventTimes times;
  times[slot(GrowthClock::epoch)] = epoch_ends(run, signals, verdict);
  times[slot(GrowthClock::eval)] = signals.evaluations;
  times[slot(GrowthClock::checkpoint)] = signals.checkpoints;
  Tally tally = tally_up(growing_floor(signals, verdict), times);
  const bool has_growth = grew(tally, verdict);
  if (!has_growth) tally.growth_mb = 0;

  std::vector<ClockGrowth> clocks;
  if (signals.clock == Clock::steps) clocks.push_back(measure_steps(tally));
  for (const GrowthClock clock : {GrowthClock::epoch, GrowthClock::eval, GrowthClock::checkpoint}) {
    if (!times[slot(clock)].empty()) clocks.push_back(measure(tally, clock));
  }
  if (has_growth) claim(tally, verdict, clocks);
  for (ClockGrowth& of : clocks) of.between_mb_per_step = tally.cold_rate.mean;
  return clocks;
}

}  // namespace plateau
