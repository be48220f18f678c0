// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "verdict/basis.h"
#include "verdict/decision.h"
#include "verdict/explanations.h"
#include "verdict/posterior.h"
#include "verdict/test_runs.h"

namespace plateau {
namespace {

const Timeline kPastDeadline{.deadline = 50};

Floors floors_of(double steps, const std::function<double(double)>& curve) {
  std::vector<TimedValue> points;
  for (double step = 2; step <= steps; step += 2) points.push_back({step, curve(step)});
  return find_floors(points, Policy::Tuning().floors);
}

// Growth that brakes evenly until it stands, at one of a few places.
double braking(double t, double stop) {
  const double left = std::max(0.0, 1 - t / stop);
  return 1 - left * left;
}

void make_braking(Basis& basis, double prior, std::vector<Shape>& shapes) {
  for (const double share : {0.7, 0.8, 0.9}) {
    const double stop = basis.start + share * basis.span;
    const uint8_t column = basis.add([stop](double t) { return braking(t, stop); }, 0, 0);
    shapes.push_back(shape_of(prior / 3, {basis.one, column}, 1, stop));
  }
}

constexpr FamilyRow kBraking{.name = "braking",
                             .end = End::at_parameter,
                             .variants = {{{0.15, make_braking}}},
                             .phrase = "brakes evenly, stands since {when}"};

std::vector<FamilyRow> with_braking() {
  std::vector<FamilyRow> families(kFamilies.begin(), kFamilies.end());
  families.push_back(kBraking);
  return families;
}

TEST(Families, ARowMoreIsWeighedAndExplained) {
  Noise noise(7);
  const Floors floors =
      floors_of(200, [&](double t) { return 500 + 800 * braking(t, 160.4) + 0.5 * noise(); });
  const std::vector<FamilyRow> families = with_braking();

  Decision decision;
  decision.floors = floors;
  decision.posterior = weigh(floors, kPastDeadline, {}, families);

  const FamilyWeight& added = decision.posterior.families.back();
  EXPECT_GT(added.weight, 0.9);
  const Explanation first = explain(decision).front();
  EXPECT_EQ(first.name, "braking");
  EXPECT_EQ(first.phrase, "brakes evenly, stands since {when}");
  EXPECT_TRUE(first.bounded);
  EXPECT_NEAR(first.ends_at_step.value(), 160.4, 0.1);
}

TEST(Families, ARowMoreTakesNothingWhereItDoesNotFit) {
  Noise noise(8);
  const Floors floors = floors_of(200, [&](double t) { return 500 + 5 * t + noise(); });
  const std::vector<FamilyRow> families = with_braking();

  const Posterior posterior = weigh(floors, kPastDeadline, {}, families);

  EXPECT_LT(posterior.families.back().weight, 1e-3);
  EXPECT_GT(posterior.families[static_cast<size_t>(Family::linear)].weight, 0.4);
}

TEST(Families, EachCampHoldsHalfOfThePrior) {
  const Floors floors = floors_of(200, [](double t) { return 500 + t; });
  const Timeline timeline{
      .epoch_steps = 60, .deadline = 75, .evaluations = {50, 100, 150}, .checkpoints = {90}};

  for (const auto& families : {with_braking(), std::vector(kFamilies.begin(), kFamilies.end())}) {
    const ShapeList list = list_shapes(floors, timeline, 0.1, {}, families);
    double bounded = 0, unbounded = 0;
    for (const Shape& shape : list.shapes) {
      (shape.family->bounded ? bounded : unbounded) += std::exp(shape.log_prior);
    }
    for (const auto& [family, log_prior] : list.elsewhere) {
      (family->bounded ? bounded : unbounded) += std::exp(log_prior);
    }
    EXPECT_NEAR(bounded, 0.5, 1e-12);
    EXPECT_NEAR(unbounded, 0.5, 1e-12);
  }
}

TEST(Families, TheGrowthColumnIsOneOfTheShapesOwn) {
  const Floors floors = floors_of(200, [](double t) { return 500 + t; });
  const Timeline timeline{.epoch_steps = 60, .deadline = 250, .evaluations = {50, 100, 150}};
  for (const Shape& shape : list_shapes(floors, timeline, 0.1, {}).shapes) {
    EXPECT_LT(shape.growth, shape.column_count) << shape.family->name;
    EXPECT_EQ(shape.columns[0], 0) << shape.family->name;
  }
}

TEST(Families, EveryNameOfTheEnumStandsAtItsRow) {
  const std::vector<std::pair<Family, std::string_view>> named = {
      {Family::flat, "flat"},
      {Family::saturating, "saturating"},
      {Family::records, "records"},
      {Family::epoch_hinge, "epoch-hinge"},
      {Family::capacity, "capacity"},
      {Family::still_filling, "still-filling"},
      {Family::epoch_ramp, "epoch-ramp"},
      {Family::first_events, "first-events"},
      {Family::slowing_steps, "slowing-steps"},
      {Family::settled, "settled"},
      {Family::linear, "linear"},
      {Family::accelerating, "accelerating"},
      {Family::linear_after_warmup, "leak-after-warm-up"},
      {Family::linear_after_epoch, "leak-after-epoch"},
      {Family::late_start, "late-start"},
      {Family::per_evaluation, "per-evaluation"},
      {Family::per_checkpoint, "per-checkpoint"},
      {Family::per_epoch, "per-epoch"},
      {Family::random_steps, "random-steps"},
      {Family::settled_then_linear, "leak-since-settled"}};
  for (const auto& [family, name] : named) EXPECT_EQ(family_row(family).name, name);
}

TEST(Families, AFillThatLiesAheadEndsOnlyWhereTheEpochIsKnown) {
  const FamilyRow& filling = family_row(Family::still_filling);
  const Fit to_epoch{.family = &filling, .ends_at = 83};
  const Fit to_deadline{.family = &filling, .ends_at = 500, .open_end = true};

  EXPECT_EQ(filling.ends(to_epoch), 83);
  EXPECT_EQ(filling.phrase_for(to_epoch), filling.phrase_when_end_known);
  EXPECT_EQ(filling.ends(to_deadline), std::nullopt);
  EXPECT_EQ(filling.phrase_for(to_deadline), filling.phrase);
}

}  // namespace
}  // namespace plateau
