// SPDX-License-Identifier: Apache-2.0
#include "verdict/shapes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "verdict/basis.h"

namespace plateau {
namespace {

constexpr size_t kStepCandidates = 5;
// More than any variant has shapes; columns are counted in a byte.
constexpr size_t kMostOfVariant = 4096;

// Asks every row of the table for its shapes. Priors stay plain weights until normalise().
void collect(Basis& basis, std::span<const FamilyRow> families, const Policy::Tuning& tuning,
             ShapeList& list) {
  for (size_t i = 0; i < families.size(); ++i) {
    const FamilyRow& family = families[i];
    if (basis.rows < family.fewest_floors) continue;
    const double scale = static_cast<int>(i) == tuning.scaled_family ? tuning.scale : 1.0;
    if (family.weigh != nullptr) {
      list.elsewhere.push_back({&family, family.variants[0].prior * scale});
    }
    for (const Variant& variant : family.variants) {
      if (variant.make == nullptr) continue;
      const size_t first = list.shapes.size();
      variant.make(basis, variant.prior, list.shapes);
      for (size_t s = first; s < list.shapes.size(); ++s) {
        list.shapes[s].family = &family;
        list.shapes[s].log_prior *= scale;
        list.shapes[s].place = variant.turn * kMostOfVariant + (s - first);
      }
    }
  }
  std::stable_sort(list.shapes.begin(), list.shapes.end(),
                   [](const Shape& a, const Shape& b) { return a.place < b.place; });
}

void add_step_candidates(Basis& basis, double noise_floor_mb, ShapeList& list) {
  const Floors& floors = basis.floors;
  std::vector<std::pair<double, size_t>> jumps;
  for (size_t i = 1; i < basis.rows; ++i) {
    jumps.emplace_back(-std::fabs(floors.mb[i] - floors.mb[i - 1]), i);
  }
  std::sort(jumps.begin(), jumps.end());
  for (const auto& [jump, row] : jumps) {
    if (-jump < 2 * noise_floor_mb || list.step_rows.size() == kStepCandidates) break;
    // A jump at an evaluation or checkpoint is that event's doing, and the event shapes' to
    // explain; as a one-off it would let a staircase pass for a series of accidents.
    if (row_at_event(floors, row, basis.timeline.evaluations) ||
        row_at_event(floors, row, basis.timeline.checkpoints)) {
      continue;
    }
    const double at = floors.at[row];
    list.step_rows.push_back(row);
    list.step_columns.push_back(basis.add([&](double t) { return t >= at ? 1.0 : 0.0; }, 0, 0));
  }
}

// Makes each camp's weights sum to one half and takes logarithms.
void normalise(ShapeList& list) {
  double bounded = 0, unbounded = 0;
  const auto camp = [&](const FamilyRow& family) -> double& {
    return family.bounded ? bounded : unbounded;
  };
  for (const WeighedElsewhere& of : list.elsewhere) camp(*of.family) += of.log_prior;
  for (const Shape& shape : list.shapes) camp(*shape.family) += shape.log_prior;
  for (WeighedElsewhere& of : list.elsewhere) {
    of.log_prior = std::log(0.5 * of.log_prior / camp(*of.family));
  }
  for (Shape& shape : list.shapes) {
    shape.log_prior = std::log(0.5 * shape.log_prior / camp(*shape.family));
  }
}

}  // namespace

Shape shape_of(double prior, std::initializer_list<uint8_t> columns, uint8_t growth,
               double parameter) {
  Shape shape{.log_prior = prior,
              .column_count = static_cast<uint8_t>(columns.size()),
              .growth = growth,
              .parameter = parameter};
  std::copy(columns.begin(), columns.end(), shape.columns.begin());
  return shape;
}

double warmup_deadline(Clock clock, double epoch_steps, double total_steps, double warmup_epochs) {
  if (epoch_steps > 0) return warmup_epochs * epoch_steps;
  double unknown = 350;
  if (clock == Clock::seconds) unknown = 2400;
  if (clock == Clock::samples) unknown = 140;
  return std::max(unknown, 0.25 * total_steps);
}

double still_filling_share(const Timeline& timeline, double at) {
  if (timeline.epoch_steps > at) return 1;
  const double ending = timeline.epoch_steps > 0 ? kEndingPastEpoch : kEnding;
  const double age = (at - timeline.begins) / (timeline.deadline - timeline.begins);
  return std::min(1.0, kStillFillingAtDeadline * std::pow(std::max(age, 1e-3), -ending));
}

ShapeList list_shapes(const Floors& floors, const Timeline& timeline, double noise_floor_mb,
                      const Policy::Tuning& tuning, std::span<const FamilyRow> families) {
  ShapeList list;
  list.shapes.reserve(128);
  Basis basis(floors, timeline);
  collect(basis, families, tuning, list);
  add_step_candidates(basis, noise_floor_mb, list);
  normalise(list);
  list.columns = std::move(basis.columns);
  return list;
}

bool row_at_event(const Floors& floors, size_t row, const std::vector<double>& events) {
  const double low = row > 0 ? floors.at[row - 1] : floors.at[row];
  const double high = row + 1 < floors.at.size() ? floors.at[row + 1] : floors.now;
  return std::any_of(events.begin(), events.end(),
                     [&](double at) { return at >= low && at <= high; });
}

}  // namespace plateau
