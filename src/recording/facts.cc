// SPDX-License-Identifier: Apache-2.0
#include "recording/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace plateau {
namespace {

// Epochs are logged with two to four digits; less than a hundredth of one says nothing.
constexpr double kLeastEpochs = 0.01;
// A ratio to an earlier epoch than this is mostly rounding error.
constexpr double kLeastRatioEpoch = 0.1;
constexpr double kRatioMoved = 0.1;

double length_as_logged(const Run& run, std::span<const double> clock) {
  size_t first = run.instants.size(), last = 0;
  for (size_t i = 0; i < run.instants.size(); ++i) {
    if (!std::isfinite(run.instants[i].epoch)) continue;
    first = std::min(first, i);
    last = i;
  }
  if (first >= last) return 0;
  const double epochs = run.instants[last].epoch - run.instants[first].epoch;
  const double passed = clock[last] - clock[first];
  return epochs < kLeastEpochs || passed <= 0 ? 0 : passed / epochs;
}

}  // namespace

std::string FactKind::spelled(char joint) const {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', joint);
  return text;
}

size_t fact_number(FactField field) {
  size_t number = 0;
  while (kFacts[number].field != field) ++number;
  return number;
}

void apply_facts(const Context& given, Context& context) {
  for (const FactKind& fact : kFacts) {
    if (given.*fact.field) context.*fact.field = given.*fact.field;
  }
  const bool counted = given.examples || given.batch;
  if (counted && !given.epoch_steps && context.examples && context.batch) {
    context.epoch_steps.reset();
  }
}

std::optional<double> epoch_steps_of(const Context& context) {
  if (context.epoch_steps && context.epoch_steps->value >= 1) return context.epoch_steps->value;
  if (!context.examples || !context.batch) return std::nullopt;
  if (context.examples->value < 1 || context.batch->value < 1) return std::nullopt;
  return std::ceil(context.examples->value / context.batch->value);
}

EpochLength epoch_length_of(const Run& run, std::span<const double> clock, bool steps) {
  const Context& context = run.context;
  if (const std::optional<double> stated = steps ? epoch_steps_of(context) : std::nullopt) {
    if (context.epoch_steps) return {*stated, context.epoch_steps->source};
    return {*stated, fmt::format("{} examples / {} per step",
                                 format_count(std::llround(context.examples->value)),
                                 format_count(std::llround(context.batch->value)))};
  }
  const double logged = length_as_logged(run, clock);
  const double length = steps ? std::round(logged) : logged;
  return {length, length > 0 ? "epochs as logged" : ""};
}

void EpochRatio::see(int64_t step, double epoch) {
  if (step <= 0 || !(epoch >= kLeastRatioEpoch)) return;
  last_ = static_cast<double>(step) / epoch;
  if (first_ == 0) first_ = last_;
  fractional_ = fractional_ || epoch != std::floor(epoch);
}

std::optional<double> EpochRatio::steps() const {
  const bool moved = !(std::fabs(first_ / last_ - 1) <= kRatioMoved);
  if (!fractional_ || last_ < 1 || last_ > 1e12 || moved) return std::nullopt;
  return std::round(last_);
}

}  // namespace plateau
