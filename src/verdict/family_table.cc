// SPDX-License-Identifier: Apache-2.0
#include "verdict/family_table.h"

#include "verdict/family_columns.h"
#include "verdict/increments.h"
#include "verdict/posterior.h"
#include "verdict/settled.h"

namespace plateau {
namespace {

// Prior weights count within their camp; each camp then sums to one half. They are round numbers on
// purpose: docs/accuracy.md, "Does it hang on a constant", shows what halving or doubling a
// family's does.
constexpr FamilyRow kRows[] = {
    {.name = "flat",
     .variants = {{{0.20, make_level, 13}}},
     .two_steps = true,
     .phrase = "level all along, apart from noise"},
    {.name = "saturating",
     .end = End::decay,
     .variants = {{{0.25, make_warm_up, 0},
                   {0.10, make_stretched_warm_up, 1},
                   {0.15, make_two_warm_ups, 2}}},
     .phrase = "warm-up that slows down and ends"},
    {.name = "records",
     .end = End::ever_slower,
     .variants = {{{0.05, make_records, 3}}},
     .phrase = "high-water mark: new records, ever rarer"},
    {.name = "epoch-hinge",
     .end = End::at_parameter,
     .variants = {{{0.45, make_fill_until_epoch, 6}, {0.10, make_fill_beside_warm_up, 8}}},
     .phrase = "fills during the first pass over the data, until {when}"},
    {.name = "capacity",
     .end = End::at_parameter,
     .variants = {{{0.15, make_fill_until_capacity, 4}}},
     .phrase = "bounded cache, full at {when}"},
    {.name = "still-filling",
     .end = End::ahead,
     .variants = {{{0.60, make_still_filling, 11}}},
     .two_steps = true,
     .phrase = "cache that is still filling, size unknown",
     .phrase_when_end_known = "cache that fills until the first pass ends, at {end}"},
    {.name = "epoch-ramp",
     .variants = {{{0.05, make_ramp_within_epochs, 9}}},
     .phrase = "grows within each epoch and is released at its end"},
    {.name = "first-events",
     .variants = {{{0.15, make_first_evaluations, 16},
                   {0.15, make_first_checkpoints, 18},
                   {0.15, make_first_epochs, 20}}},
     .phrase = "the first events allocate, later ones reuse"},
    {.name = "slowing-steps",
     .variants = {{{0.20}}},
     .weigh = weigh_slowing_steps,
     .phrase = "steps up that grow smaller and rarer"},
    {.name = "settled",
     .end = End::at_parameter,
     .variants = {{{0.20}}},
     .weigh = weigh_settled,
     .fewest_floors = kFewestToSettle,
     .phrase = "irregular warm-up, level since {when}"},
    {.name = "linear",
     .bounded = false,
     .variants = {{{0.40 * 0.05, make_line_over_ramp, 10}, {0.40, make_line, 14}}},
     .two_steps = true,
     .phrase = "leak at a steady rate"},
    {.name = "accelerating",
     .bounded = false,
     .variants = {{{0.05, make_parabola, 15}}},
     .two_steps = true,
     .phrase = "leak that accelerates"},
    {.name = "leak-after-warm-up",
     .bounded = false,
     .variants = {{{0.20, make_line_after_warm_up, 0}}},
     .phrase = "leak beneath a warm-up"},
    {.name = "leak-after-epoch",
     .bounded = false,
     .variants = {{{0.10, make_line_after_epoch, 7}}},
     .phrase = "leak that goes on after the first pass over the data"},
    {.name = "late-start",
     .bounded = false,
     .variants = {{{0.10, make_late_line, 5}}},
     .phrase = "leak that starts at {when}"},
    {.name = "per-evaluation",
     .bounded = false,
     .variants = {{{0.15, make_step_per_evaluation, 17}}},
     .phrase = "every evaluation leaves something behind"},
    {.name = "per-checkpoint",
     .bounded = false,
     .variants = {{{0.15, make_step_per_checkpoint, 19}}},
     .phrase = "every checkpoint leaves something behind"},
    {.name = "per-epoch",
     .bounded = false,
     .variants = {{{0.15, make_step_per_epoch, 21}}},
     .phrase = "every epoch leaves something behind"},
    {.name = "random-steps",
     .bounded = false,
     .variants = {{{0.15}}},
     .weigh = weigh_random_steps,
     .phrase = "steps up of varying size that keep coming"},
    {.name = "leak-since-settled",
     .bounded = false,
     .variants = {{{0.10}}},
     .weigh = weigh_settled_then_linear,
     .fewest_floors = kFewestToSettle,
     .phrase = "irregular warm-up, then a leak since {when}"},
    {.name = "waves",
     .variants = {{{0.10, make_waves, 22}}},
     .phrase = "rises and falls in waves, and keeps nothing"},
    {.name = "leak-under-waves",
     .bounded = false,
     .variants = {{{0.05, make_line_under_waves, 23}}},
     .phrase = "leak beneath waves of load"},
    {.name = "follows-load",
     .variants = {{{0.40, make_follows_load, 24}}},
     .phrase = "follows the load: up while there is more work, and down with it"},
    {.name = "leak-beside-load",
     .bounded = false,
     .variants = {{{0.10, make_line_beside_load, 25}}},
     .phrase = "leak besides what follows the load"},
    // What "still filling" has, and what "fills during the first pass" gives up: where the count is
    // known, it is what they mean.
    {.name = "follows-new-examples",
     .end = End::decay,
     .variants = {{{0.90, make_follows_examples, 12}}},
     .phrase = "keeps each new example, as long as new ones come"},
};

}  // namespace

constinit const std::span<const FamilyRow> kFamilies = kRows;
constinit const size_t kFamilyCount = std::size(kRows);

const FamilyRow& family_row(Family family) {
  return kFamilies[static_cast<size_t>(family)];
}

std::optional<double> FamilyRow::ends(const Fit& fit) const {
  if (end == End::at_parameter) return fit.parameter;
  if (end == End::ahead && !fit.open_end) return fit.ends_at;
  return std::nullopt;
}

std::string_view FamilyRow::phrase_for(const Fit& fit) const {
  return !phrase_when_end_known.empty() && ends(fit) ? phrase_when_end_known : phrase;
}

}  // namespace plateau
