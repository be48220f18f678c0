// SPDX-License-Identifier: Apache-2.0
#include "verdict/family_columns.h"

#include <algorithm>
#include <cmath>

#include "verdict/largest_cache.h"
#include "verdict/shape_grids.h"

namespace plateau {
namespace {

using Shapes = std::vector<Shape>;

constexpr double kWavesToJudge = 2.5;
// What is left of the weight of "still filling" beyond any cache.
constexpr double kBeyondAnyCache = 0.02;
// Of what is kept for each example, what ends with the pass although new examples come on: a cache
// in the process that trains, while the workers live on.
constexpr double kEndsAllTheSame = 1.0 / 3;

size_t hinge_stride(const Basis& b) {
  return b.rows > 24 ? 2 : 1;
}

bool examples_come_on(const Basis& b) {
  return b.examples && !b.examples->in_epoch;
}

double share_of(double prior, size_t count) {
  return prior / static_cast<double>(count);
}

// The first few events allocate something that later ones use again. Until kEventsToJudge events
// have passed, this fits as well as "it goes on": the deadline of this clock.
void add_first_events(const Basis& b, const std::optional<Basis::Events>& events, double prior,
                      Shapes& shapes) {
  if (!events) return;
  const auto& nth = events->nth;
  const double share = share_of(prior, events->known);
  shapes.push_back(shape_of(share, {b.one, nth[0]}, 1, events->at[0]));
  if (events->known > 1) {
    shapes.push_back(shape_of(share, {b.one, nth[0], nth[1]}, 2, events->at[1]));
  }
  if (events->known > 2) {
    shapes.push_back(shape_of(share, {b.one, nth[0], nth[1], nth[2]}, 3, events->at[2]));
  }
}

// A staircase with one equal step per event, alone or after a larger first one.
void add_stairs(const Basis& b, const std::optional<Basis::Events>& events, double prior,
                Shapes& shapes) {
  if (!events) return;
  const bool once = events->known == 1;
  shapes.push_back(shape_of(once ? prior : prior * 0.67, {b.one, events->stairs}, 1));
  if (once) return;
  shapes.push_back(shape_of(prior * 0.33, {b.one, events->nth[0], events->stairs}, 2));
}

}  // namespace

void make_level(Basis& b, double prior, Shapes& shapes) {
  shapes.push_back(shape_of(prior, {b.one}, 0));
}

void make_warm_up(Basis& b, double prior, Shapes& shapes) {
  const double share = 1.0 / static_cast<double>(std::max<size_t>(b.warm_ups.size(), 1));
  for (const auto& [tau, column] : b.warm_ups) {
    shapes.push_back(shape_of(prior * share, {b.one, column}, 1, tau));
  }
}

// A cache whose keys differ in popularity fills fast and then ever more slowly, longer than any
// single exponential: 1 - exp(-sqrt(t/tau)).
void make_stretched_warm_up(Basis& b, double prior, Shapes& shapes) {
  std::vector<double> taus;
  for (double tau = 0.7 * b.step; tau <= b.slowest; tau *= kTauRatio * kTauRatio) {
    taus.push_back(tau);
  }
  for (const double tau : taus) {
    const double root = std::sqrt(b.span / tau);
    const double left = std::exp(-root);
    const uint8_t column =
        b.add([&](double t) { return 1 - std::exp(-std::sqrt((t - b.start) / tau)); },
              left / (2 * root * tau), left);
    shapes.push_back(shape_of(share_of(prior, taus.size()), {b.one, column}, 1, tau));
  }
}

// Two causes that both end: a quick warm-up and a slow one, or (make_fill_beside_warm_up) a first
// pass over the data and something that saturates beside it. They mirror "linear after a warm-up"
// and "linear after the first epoch": without them every slowing climb with two speeds would read
// as a leak.
void make_two_warm_ups(Basis& b, double prior, Shapes& shapes) {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t fast = 0; fast < b.warm_ups.size(); fast += 3) {
    for (size_t slow = fast + 4; slow < b.warm_ups.size(); slow += 3) {
      pairs.emplace_back(fast, slow);
    }
  }
  for (const auto& [fast, slow] : pairs) {
    shapes.push_back(shape_of(share_of(prior, pairs.size()),
                              {b.one, b.warm_ups[fast].column, b.warm_ups[slow].column}, 2,
                              b.warm_ups[slow].tau));
  }
}

// Records come fast at first: c beyond a tenth of the run would be a line by another name.
void make_records(Basis& b, double prior, Shapes& shapes) {
  for (const double spread : {0.25, 0.8, 2.5}) {
    const double c = spread * b.step;
    const uint8_t column =
        b.add([&](double t) { return std::log1p((t - b.start) / c); }, 1 / (c + b.span), 0);
    shapes.push_back(shape_of(prior / 3, {b.one, column}, 1, c));
  }
}

void make_fill_until_epoch(Basis& b, double prior, Shapes& shapes) {
  if (!b.epoch) return;
  const bool counted = b.examples && b.examples->in_epoch;
  if (examples_come_on(b)) prior *= kEndsAllTheSame;
  shapes.push_back(
      shape_of(prior * (counted ? 0.2 : 0.7), {b.one, b.epoch->until}, 1, b.epoch->at));
  if (counted) {
    shapes.push_back(shape_of(prior * 0.5, {b.one, b.examples->seen}, 1, b.epoch->at));
  }
  shapes.push_back(shape_of(prior * 0.3, {b.one, b.epoch->bend, b.epoch->until}, 0, b.epoch->at));
}

void make_fill_beside_warm_up(Basis& b, double prior, Shapes& shapes) {
  if (!b.epoch) return;
  for (const auto& [tau, column] : b.warm_ups) {
    shapes.push_back(shape_of(share_of(prior, b.warm_ups.size()), {b.one, b.epoch->until, column},
                              2, b.epoch->at));
  }
}

void make_fill_until_capacity(Basis& b, double prior, Shapes& shapes) {
  const size_t tail = std::max<size_t>(3, b.rows / kHingeTail);
  std::vector<double> hinges;
  for (size_t k = 2; k + tail <= b.rows; k += hinge_stride(b)) hinges.push_back(b.floors.at[k]);
  if (!hinges.empty()) hinges.push_back(best_hinge(b.floors, hinges));
  for (const double c : hinges) {
    const uint8_t column =
        b.add([&](double t) { return (std::min(t, c) - b.start) / b.span; }, 0, 0);
    shapes.push_back(shape_of(share_of(prior, hinges.size()), {b.one, column}, 1, c));
  }
}

// A fill that goes on until the epoch's end if that lies ahead. Past it, or where no epoch is
// known, it may still end, but less and less likely: of the fills that have not ended by t, a share
// of (t / T)^-kEnding goes on until T.
void make_still_filling(Basis& b, double prior, Shapes& shapes) {
  const double epoch = b.timeline.epoch_steps;
  const bool epoch_ahead = epoch > b.now;
  const double ending = epoch > 0 ? kEndingPastEpoch : kEnding;
  const bool beyond = !epoch_ahead && beyond_any_cache(b.floors, b.timeline.largest_cache_mb);
  const double share = beyond ? kBeyondAnyCache : still_filling_share(b.timeline, b.now);
  for (Shape shape : {shape_of(prior * share * 0.7, {b.one, b.line}, 1),
                      shape_of(prior * share * 0.3, {b.one, b.line, b.square}, 2)}) {
    // Half of those that still fill will have ended by then.
    shape.ends_at = epoch_ahead ? epoch : b.now * std::pow(2, 1 / ending);
    shape.open_end = !epoch_ahead;
    shapes.push_back(shape);
  }
}

// What is kept for each new example, where they still come or came after the first pass too: a
// cache in each of several workers that live on, or of a sampler that draws with replacement. What
// is left to come is known.
void make_follows_examples(Basis& b, double prior, Shapes& shapes) {
  if (!examples_come_on(b)) return;
  shapes.push_back(shape_of(prior, {b.one, b.examples->seen}, 1, b.examples->tau));
}

void make_ramp_within_epochs(Basis& b, double prior, Shapes& shapes) {
  if (!b.epoch || !b.epoch->ramp) return;
  const Basis::Epoch& epoch = *b.epoch;
  shapes.push_back(shape_of(prior * 0.6, {b.one, *epoch.ramp}, 1, epoch.at));
  shapes.push_back(shape_of(prior * 0.4, {b.one, epoch.until, *epoch.ramp}, 2, epoch.at));
}

void make_first_evaluations(Basis& b, double prior, Shapes& shapes) {
  add_first_events(b, b.evaluations, prior, shapes);
}
void make_first_checkpoints(Basis& b, double prior, Shapes& shapes) {
  add_first_events(b, b.checkpoints, prior, shapes);
}
void make_first_epochs(Basis& b, double prior, Shapes& shapes) {
  add_first_events(b, b.epochs, prior, shapes);
}

void make_line(Basis& b, double prior, Shapes& shapes) {
  shapes.push_back(shape_of(prior, {b.one, b.line}, 1));
}

void make_line_over_ramp(Basis& b, double prior, Shapes& shapes) {
  if (!b.epoch || !b.epoch->ramp) return;
  shapes.push_back(shape_of(prior, {b.one, *b.epoch->ramp, b.line}, 2));
}

void make_parabola(Basis& b, double prior, Shapes& shapes) {
  shapes.push_back(shape_of(prior, {b.one, b.line, b.square}, 2));
}

void make_line_after_warm_up(Basis& b, double prior, Shapes& shapes) {
  const double share = 1.0 / static_cast<double>(std::max<size_t>(b.warm_ups.size(), 1));
  for (const auto& [tau, column] : b.warm_ups) {
    // A warm-up that takes a third of the run or more cannot be told from the line beside it.
    if (tau >= b.span / 3) continue;
    shapes.push_back(shape_of(prior * share, {b.one, column, b.line}, 2, tau));
  }
}

void make_line_after_epoch(Basis& b, double prior, Shapes& shapes) {
  if (!b.epoch) return;
  const bool on = examples_come_on(b);
  const double ends = on ? prior * kEndsAllTheSame : prior;
  shapes.push_back(shape_of(ends, {b.one, b.epoch->until, b.line}, 2, b.epoch->at));
  // Beside what does not end with it, a leak is what comes on top of the pace of new examples.
  if (on) shapes.push_back(shape_of(ends, {b.one, b.examples->beside, b.line}, 2, b.epoch->at));
}

void make_late_line(Basis& b, double prior, Shapes& shapes) {
  std::vector<double> starts;
  for (size_t k = 2; k + 3 <= b.rows; k += hinge_stride(b) + 1) starts.push_back(b.floors.at[k]);
  for (const double c : starts) {
    const uint8_t column =
        b.add([&](double t) { return std::max(0.0, t - c) / b.span; }, 1 / b.span, 0);
    shapes.push_back(shape_of(share_of(prior, starts.size()), {b.one, column}, 1, c));
  }
}

void make_step_per_evaluation(Basis& b, double prior, Shapes& shapes) {
  add_stairs(b, b.evaluations, prior, shapes);
}
void make_step_per_checkpoint(Basis& b, double prior, Shapes& shapes) {
  add_stairs(b, b.checkpoints, prior, shapes);
}
void make_step_per_epoch(Basis& b, double prior, Shapes& shapes) {
  add_stairs(b, b.epochs, prior, shapes);
}

void make_waves(Basis& b, double prior, Shapes& shapes) {
  for (const auto& [period, sine, cosine] : b.waves) {
    shapes.push_back(shape_of(share_of(prior, b.waves.size()), {b.one, sine, cosine}, 0, period));
  }
}

// A wave that was not seen to come back twice is part of any trend.
void make_line_under_waves(Basis& b, double prior, Shapes& shapes) {
  for (const auto& [period, sine, cosine] : b.waves) {
    if (period > b.span / kWavesToJudge) continue;
    shapes.push_back(
        shape_of(share_of(prior, b.waves.size()), {b.one, sine, cosine, b.line}, 3, period));
  }
}

void make_follows_load(Basis& b, double prior, Shapes& shapes) {
  if (b.load) shapes.push_back(shape_of(prior, {b.one, *b.load}, 1));
}

void make_line_beside_load(Basis& b, double prior, Shapes& shapes) {
  if (b.load) shapes.push_back(shape_of(prior, {b.one, *b.load, b.line}, 2));
}

}  // namespace plateau
