// SPDX-License-Identifier: Apache-2.0
#include "verdict/basis.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "verdict/shape_grids.h"

namespace plateau {
namespace {

double span_of(const Floors& floors) {
  return std::max(floors.now - floors.at.front(), 1e-9);
}

double step_of(const Floors& floors) {
  return span_of(floors) / static_cast<double>(std::max<size_t>(floors.at.size() - 1, 1));
}

// A warm-up may be as slow as the deadline, or as what the data can tell from a line, which takes
// one and a half times tau; one slower than 1.5 spans is a line.
double slowest_of(const Floors& floors, double deadline) {
  const double span = span_of(floors);
  return std::min(std::max({deadline, 2 * step_of(floors), span / 1.5}), 1.5 * span);
}

}  // namespace

Basis::Basis(const Floors& of, const Timeline& when)
    : floors(of),
      timeline(when),
      rows(of.at.size()),
      start(of.at.front()),
      now(of.now),
      span(span_of(of)),
      step(step_of(of)),
      slowest(slowest_of(of, when.deadline)) {
  columns.reserve(96);
  const auto share = [this](double t) { return (t - start) / span; };
  one = add([](double) { return 1.0; }, 0, 0);
  line = add(share, 1 / span, 0);
  square = add([&](double t) { return share(t) * share(t); }, 2 / span, 0);
  add_warm_ups();
  add_waves();
  add_load();
  add_epoch();
  add_examples();
  evaluations = add_events(timeline.evaluations);
  checkpoints = add_events(timeline.checkpoints);
  epochs = add_events(epoch_ends());
}

void Basis::add_warm_ups() {
  for (const double tau : tau_grid(floors, 0.7 * step, slowest)) {
    const double left = std::exp(-span / tau);
    warm_ups.push_back(
        {tau, add([&](double t) { return 1 - std::exp(-(t - start) / tau); }, left / tau, left)});
  }
}

// Up and down is no growth: a wave has no slope now and nothing left to come.
void Basis::add_waves() {
  for (const double period : wave_periods(floors)) {
    const double turn = 2 * std::numbers::pi / period;
    waves.push_back({period, add([&](double t) { return std::sin(turn * (t - start)); }, 0, 0),
                     add([&](double t) { return std::cos(turn * (t - start)); }, 0, 0)});
  }
}

void Basis::add_load() {
  if (timeline.load.empty()) return;
  double largest = 0;
  for (const TimedValue& point : timeline.load) largest = std::max(largest, point.mb);
  // A floor is the least of its stretch: what was held under the mean load until the next one.
  const auto mean_from = [&](double from) {
    const double to = from + step;
    const std::vector<TimedValue>& all = timeline.load;
    auto point = std::lower_bound(all.begin(), all.end(), from,
                                  [](const TimedValue& p, double at) { return p.at < at; });
    double sum = 0, count = 0;
    for (; point != all.end() && point->at < to; ++point) sum += point->mb, ++count;
    if (count == 0) return (point == all.end() ? all.back() : *point).mb / largest;
    return sum / count / largest;
  };
  load = add(mean_from, 0, 0);
}

void Basis::add_epoch() {
  const double at = timeline.epoch_steps;
  if (at <= start || at >= now) return;
  const auto filled = [&](double t) { return (std::min(t, at) - start) / span; };
  epoch = Epoch{.at = at, .ramp = std::nullopt};
  epoch->until = add(filled, 0, 0);
  epoch->bend = add([&](double t) { return filled(t) * filled(t); }, 0, 0);
  // Within-epoch ramps need a release to be seen: a third into the second epoch.
  if (now < 1.33 * at) return;
  epoch->ramp = add([&](double t) { return std::fmod(t, at) / at; }, 0, 0);
}

// Workers load ahead of the step, and what they keep is there as soon as they have loaded it: the
// count says when.
void Basis::add_examples() {
  const NewExamples& of = timeline.new_examples;
  if (of.last <= 0 && !of.come_slower()) return;
  const double first = of.seen_at(start);
  const double all = of.seen_at(now) - first;
  if (!(all > 0)) return;
  Examples made{.in_epoch = of.last > 0 && of.last <= timeline.epoch_steps};
  double per_step = 0;
  if (of.last <= 0) {
    // A count without an end says nothing of where it leads.
    if (!(of.per_step > 0) || of.to_see <= of.seen_at(now)) return;
    made.left = (of.to_see - of.seen_at(now)) / all;
    made.tau = (of.to_see - of.seen_at(now)) / of.per_step;
    per_step = of.per_step / all;
  }
  const auto share = [&](double t) { return (of.seen_at(t) - first) / all; };
  made.seen = add(share, per_step, made.left);
  made.beside = add(share, 0, 0);
  examples = made;
}

std::optional<Basis::Events> Basis::add_events(const std::vector<double>& events) {
  Events inside;
  for (const double at : events) {
    if (at > start && at < now) inside.at.push_back(at);
  }
  if (inside.at.empty()) return std::nullopt;
  const std::vector<double>& at = inside.at;
  const auto count = static_cast<double>(at.size());
  const auto passed = [&](double t) {
    return static_cast<double>(std::upper_bound(at.begin(), at.end(), t) - at.begin());
  };
  inside.stairs = add([&](double t) { return passed(t) / count; }, 1 / span, 0);
  inside.known = std::min(at.size(), inside.nth.size());
  for (size_t k = 0; k < inside.known; ++k) {
    inside.nth[k] = add([&](double t) { return t >= at[k] ? 1.0 : 0.0; }, 0, 0);
  }
  return inside;
}

std::vector<double> Basis::epoch_ends() const {
  std::vector<double> ends;
  // Epochs of a few steps are finer than the floors; growth per epoch is then growth per step.
  if (timeline.epoch_steps < 3 * span / static_cast<double>(rows)) return ends;
  for (double at = timeline.epoch_steps; at < now; at += timeline.epoch_steps) ends.push_back(at);
  return ends.size() >= 2 ? ends : std::vector<double>();
}

}  // namespace plateau
