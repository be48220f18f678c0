// SPDX-License-Identifier: Apache-2.0
// The competing explanations of a climb, as shapes that a fit can weigh.
//
// "Does it grow?" is the wrong question: every warm-up grows. The question is which *kind* of
// growth explains the floors, one that ends or one that does not. So both camps are written down
// as lists of shapes, and given the same weight before the data is seen:
//
//   bounded    flat · saturating A(1-exp(-t/tau)) · records b·log(1+t/c), the way a high-water
//              mark rises · hinge at the end of the first epoch · hinge at some capacity · still
//              filling (a hinge that lies ahead) · what follows the count of new examples ·
//              ramp within each epoch · the first few evaluations or checkpoints · random steps,
//              ever rarer · settled: anything at first, level since · waves · what follows the
//              load
//   unbounded  linear · accelerating · linear after a warm-up · linear after the first epoch ·
//              starting late · staircase per evaluation, checkpoint or epoch · random steps that
//              keep coming · anything at first, linear since · linear beneath waves, or
//              besides what follows the load
//
// Any shape may also contain one or two one-off steps (first validation, optimizer state, a new
// phase). A shape is a few columns over the floors' clock; everything nonlinear in it (tau, the
// place of a hinge) is a grid, and the grid shares the shape's weight, so that freedom is paid for.
//
// The deadline. A cache that is still filling and a leak are the same curve until the cache is
// full. Data cannot separate them; only what is known of caches can. Most are full when every
// example has been seen; of the others ever fewer are left. So "still filling" has its full weight
// until the end of the first epoch, and then loses it with the square of the clock: 15 % of it are
// left at the deadline T_w = 1.75 x the first epoch (Policy::warmup_epochs). Where the epoch is
// unknown, T_w is 350 steps, 40 minutes or 140 samples, or a quarter of the planned run if that is
// more, and the weight is full until 0.4 of it. A straight climb becomes a leak at about T_w.
// (Samples count only in a run whose instants have neither steps nor times. The importers number
// the samples of such a log as steps, so that there it is 350 as well.)
// Whoever knows of a cache that fills for longer raises it with --epoch-steps.
//
// Three things move it. Where new examples are counted, it is known when they have ended, or that
// they come more slowly than steps do (examples_seen.h). Growth far beyond what any cache of the
// program could be is none, however early (largest_cache.h). And by the clock on the wall, with
// nothing that tells the load, one climb may be the load's for half a day, whatever its shape
// (load.h, decision.h).
//
// Worked case: 663 examples / 8 per step end at step 83. At step 70 of a straight climb "linear"
// and "still filling until 83" fit equally well and keep their prior weights: undecided. At step
// 110, with floors level since 83, the hinge at 83 fits within the noise and a line does not.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "verdict/examples_seen.h"
#include "verdict/family_table.h"
#include "verdict/floor.h"

namespace plateau {

// What is known about the work, on the run's clock. Zero or empty where unknown.
struct Timeline {
  double epoch_steps = 0;
  double total_steps = 0;
  double begins = 0;        // Clock at which the life began that is judged.
  double deadline = 0;      // T_w, after `begins`.
  bool in_seconds = false;  // The clock is time, not work.
  bool is_stretch =
      false;  // Of a run whose rest nobody saw: says what grows, never that none does.
  // By the clock on the wall, and with nothing that tells the load: until then one climb may be the
  // load's. 0 elsewhere.
  double one_climb_until = 0;
  NewExamples new_examples;
  double largest_cache_mb = 0;  // Growth beyond it is no cache's (largest_cache.h); 0 if unknown.
  std::vector<double> evaluations;
  std::vector<double> checkpoints;
  std::vector<TimedValue> load;  // Where it is known and varies (load.h).
};

// The deadline by the policy above.
double warmup_deadline(Clock clock, double epoch_steps, double total_steps, double warmup_epochs);

// One basis function over the floors, and what it says about now and later, per unit coefficient.
struct Column {
  std::array<double, kMaxFloors> value{};
  double at_now = 0;     // Its value at the last sample.
  double slope = 0;      // Its growth per step at the last sample.
  double remaining = 0;  // What it will still add.
};

struct Shape {
  const FamilyRow* family = nullptr;
  double log_prior = 0;  // While shapes are being made: the weight itself.
  std::array<uint8_t, 4> columns{};
  uint8_t column_count = 1;
  uint8_t growth = 0;     // Which of `columns` is growth and must not be negative; 0: none.
  double parameter = 0;   // tau, or the clock of a hinge.
  double ends_at = 0;     // When it is full, if that lies ahead.
  bool open_end = false;  // ends_at is only the policy's deadline.
  size_t place = 0;       // In the order of weighing.
};
// A shape of these columns, the first of which is the constant.
Shape shape_of(double prior, std::initializer_list<uint8_t> columns, uint8_t growth,
               double parameter = 0);

// A family that is weighed by other means than columns.
struct WeighedElsewhere {
  const FamilyRow* family = nullptr;
  double log_prior = 0;
};

struct ShapeList {
  std::vector<Column> columns;  // columns[0] is the constant.
  std::vector<Shape> shapes;
  std::vector<WeighedElsewhere> elsewhere;
  std::vector<size_t> step_rows;      // Candidate rows for one-off steps, largest jump first.
  std::vector<uint8_t> step_columns;  // Their columns.
};

// Of the weight of "still filling" what is left at the deadline: about as much as lets a straight
// climb pass for a leak at Policy::false_leak.
inline constexpr double kStillFillingAtDeadline = 0.15;
// How fast it goes away, as a power of the clock. Most caches are full after one pass over the
// data.
inline constexpr double kEndingPastEpoch = 2;
inline constexpr double kEnding = 2;

// How much of its weight "still filling" has left at a moment.
double still_filling_share(const Timeline& timeline, double at);

// A recent halt is no plateau yet: a sixth of the floors must lie after a hinge.
inline constexpr size_t kHingeTail = 6;

// Builds the list for these floors. Requires: at least three floors; `families` outlives the list.
ShapeList list_shapes(const Floors& floors, const Timeline& timeline, double noise_floor_mb,
                      const Policy::Tuning& tuning,
                      std::span<const FamilyRow> families = kFamilies);

// True if row `row` is the first floor at or after one of the events.
bool row_at_event(const Floors& floors, size_t row, const std::vector<double>& events);

}  // namespace plateau
