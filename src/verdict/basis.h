// SPDX-License-Identifier: Apache-2.0
// The columns that shapes are put together from, over one run's floors.
//
// A column is a curve with its values at the floors. Those that several families use (the constant,
// the line, the warm-ups, the first epoch, the stairs of events) are made once, here; a family adds
// its own with add(). All curves are scaled so that the span of the floors is about 1.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "verdict/shapes.h"

namespace plateau {

// Three equal steps at three events happen once by chance; a fourth makes it a habit.
inline constexpr size_t kEventsToJudge = 4;

class Basis {
 public:
  // Requires: at least three floors; both outlive the basis.
  Basis(const Floors& floors, const Timeline& timeline);

  // Adds the curve `f` over the clock; `slope` is its growth per step now, `remaining` what it will
  // still add. Returns the column's index.
  template <typename Curve>
  uint8_t add(Curve f, double slope, double remaining) {
    Column column;
    for (size_t i = 0; i < rows; ++i) column.value[i] = f(floors.at[i]);
    column.at_now = f(now);
    column.slope = slope;
    column.remaining = remaining;
    columns.push_back(column);
    return static_cast<uint8_t>(columns.size() - 1);
  }

  const Floors& floors;
  const Timeline& timeline;
  const size_t rows;
  const double start;  // Clock of the first floor and of the last sample, and between them.
  const double now;
  const double span;
  const double step;     // Mean distance of two floors.
  const double slowest;  // Largest tau that is no line.
  std::vector<Column> columns;

  uint8_t one = 0;
  uint8_t line = 0;
  uint8_t square = 0;
  struct WarmUp {
    double tau = 0;
    uint8_t column = 0;
  };
  std::vector<WarmUp> warm_ups;  // tau rising.

  // Waves of load, as sine and cosine.
  struct Wave {
    double period = 0;
    uint8_t sine = 0;
    uint8_t cosine = 0;
  };
  std::vector<Wave> waves;
  std::optional<uint8_t> load;  // Mean load between two floors, as a share of the largest.

  // The first pass over the data; only if its end lies within the floors.
  struct Epoch {
    double at = 0;
    uint8_t until = 0;            // A line until there, then level.
    uint8_t bend = 0;             // Its square: later examples may be larger or smaller.
    std::optional<uint8_t> ramp;  // Up within each epoch, and down at its end.
  };
  std::optional<Epoch> epoch;

  // The count of new examples (examples_seen.h); only where its clock and that of steps have
  // parted.
  struct Examples {
    uint8_t seen = 0;       // As a share of all that came within the floors.
    uint8_t beside = 0;     // The same, for growth without end beside it: says nothing of later.
    double left = 0;        // Still to come, on the same scale; 0 if none comes any more.
    double tau = 0;         // How long that takes at the pace of now: a time constant.
    bool in_epoch = false;  // None came after the first pass.
  };
  std::optional<Examples> examples;

  // Events within the floors; only if there are any.
  struct Events {
    std::vector<double> at;
    uint8_t stairs = 0;                             // One equal step at each.
    std::array<uint8_t, kEventsToJudge - 1> nth{};  // A step at the nth alone.
    size_t known = 0;                               // How many of `nth` there are.
  };
  std::optional<Events> evaluations;
  std::optional<Events> checkpoints;
  std::optional<Events> epochs;

 private:
  void add_warm_ups();
  void add_waves();
  void add_load();
  void add_epoch();
  void add_examples();
  std::optional<Events> add_events(const std::vector<double>& events);
  [[nodiscard]] std::vector<double> epoch_ends() const;
};

}  // namespace plateau
