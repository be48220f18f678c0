// SPDX-License-Identifier: Apache-2.0
// The families of shapes, one row each: everything that tells one family from another.
//
// A row says what the family is called, whether growth ends under it and where, how much it is
// believed before the data is seen, what its shapes look like, and the phrase that a reader gets.
// Whoever weighs, forecasts or words a fit asks its row; nobody lists families by hand. To add a
// family, add a row to family_table.cc, with a function that makes its shapes (family_columns.h),
// and a test; families_test.cc adds one.
//
// Rows are known by their place in the table. The enum names the places of those that other code
// speaks of by name, such as the causes; a row beyond them needs no name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace plateau {

class Basis;
struct Fit;
struct Shape;
struct WeighedFit;
struct Weighing;

enum class Family : uint8_t {
  flat,
  saturating,
  records,
  epoch_hinge,
  capacity,
  still_filling,
  epoch_ramp,
  first_events,
  slowing_steps,
  settled,
  linear,
  accelerating,
  linear_after_warmup,
  linear_after_epoch,
  late_start,
  per_evaluation,
  per_checkpoint,
  per_epoch,
  random_steps,
  settled_then_linear,
  waves,
  linear_under_waves,
  follows_load,
  linear_beside_load,
  follows_examples,
};

// When growth ends under a bounded family.
enum class End : uint8_t {
  unnamed,       // It is over, or each fit knows what is left, but names no moment.
  ever_slower,   // At no moment: it goes on, ever more slowly, without a known rest.
  decay,         // Fit::parameter is the time constant of what is left.
  at_parameter,  // At Fit::parameter, the clock of a hinge.
  ahead,         // At Fit::ends_at, which lies ahead; unknown if Fit::open_end.
};

// One kind of shape of a family with its prior weight, before both camps are normalised. `make`
// appends the shapes, each with its share of `prior` (family_columns.h); it appends none where the
// run has nothing to show for them. Null for families that are weighed elsewhere.
struct Variant {
  double prior = 0;
  void (*make)(Basis& basis, double prior, std::vector<Shape>& shapes) = nullptr;
  // Place in the order of weighing; equal ones take turns. What lies far below the best so far is
  // dropped unseen, so the order is fixed, and not that of the table.
  uint8_t turn = 255;
};

struct FamilyRow {
  std::string_view name;  // Stable id, as in Explanation::name.
  bool bounded = true;
  End end = End::unnamed;
  std::array<Variant, 3> variants;
  // Weighs the whole family by other means than least squares on columns: settled.h, increments.h.
  std::vector<WeighedFit> (*weigh)(const Weighing& weighing) = nullptr;
  size_t fewest_floors = 0;  // Left out below this many.
  // May hold two one-off steps. Two free steps bend anything, so only the plainest shapes may, and
  // each bounded one among them has its unbounded twin.
  bool two_steps = false;
  // For a reader; {when} stands for the moment Fit::parameter, {end} for Fit::ends_at.
  std::string_view phrase;
  std::string_view phrase_when_end_known = {};  // Instead of `phrase`, where ends() is known.

  // The clock at which growth ends or ended by this fit; empty if it names none.
  [[nodiscard]] std::optional<double> ends(const Fit& fit) const;
  [[nodiscard]] std::string_view phrase_for(const Fit& fit) const;
};

extern const std::span<const FamilyRow> kFamilies;
extern const size_t kFamilyCount;

const FamilyRow& family_row(Family family);
inline bool is_bounded(Family family) {
  return family_row(family).bounded;
}

}  // namespace plateau
