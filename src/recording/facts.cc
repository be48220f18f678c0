// SPDX-License-Identifier: Apache-2.0
#include "recording/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/statistics.h"
#include "base/units.h"

namespace plateau {
namespace {

// Epochs are logged with two to four digits; less than a hundredth of one says nothing.
constexpr double kLeastEpochs = 0.01;
// A ratio to an earlier epoch than this is mostly rounding error.
constexpr double kLeastRatioEpoch = 0.1;
constexpr double kRatioMoved = 0.1;

// One instant that says its epoch.
struct Logged {
  double at = 0;  // On the clock.
  double epoch = 0;
};

double length_between(const Logged& from, const Logged& to) {
  const double epochs = to.epoch - from.epoch;
  const double passed = to.at - from.at;
  return epochs < kLeastEpochs || passed <= 0 ? 0 : passed / epochs;
}

// Whole epochs say where one begins, and nothing within it. So the length is the clock between
// beginnings, and the first epoch's is not known before the second has begun. The first one begins
// where it is first named; but with step 0 (`from_zero`) if that lies further back than the next
// sample lies ahead: somebody began to look in mid-epoch.
double length_of_whole(std::span<const Logged> logged, bool from_zero) {
  std::vector<Logged> begins = {logged.front()};
  for (const Logged& now : logged) {
    if (now.epoch > begins.back().epoch) begins.push_back(now);
  }
  if (begins.size() < 2) return 0;
  if (begins.size() > 2) return length_between(begins[1], begins.back());
  Logged from = begins[0];
  const auto next = std::find_if(logged.begin(), logged.end(),
                                 [&from](const Logged& other) { return other.at > from.at; });
  const bool in_mid_epoch = next != logged.end() && from.at > next->at - from.at;
  if (from_zero && in_mid_epoch && from.epoch <= 1) from.at = 0;
  return length_between(from, begins[1]);
}

double length_as_logged(const Run& run, std::span<const double> clock, bool steps) {
  std::vector<Logged> logged;
  bool fractions = false;
  bool unnamed_step = false;  // Before the first epoch that is named.
  for (size_t i = 0; i < run.instants.size(); ++i) {
    const double epoch = run.instants[i].epoch;
    if (!std::isfinite(epoch)) {
      unnamed_step = unnamed_step || (logged.empty() && run.instants[i].step >= 0);
      continue;
    }
    logged.push_back({clock[i], epoch});
    fractions = fractions || epoch != std::floor(epoch);
  }
  if (logged.size() < 2) return 0;
  if (fractions) return length_between(logged.front(), logged.back());
  return length_of_whole(logged, steps && !unnamed_step);
}

// The clock between epochs that a job names and nothing else: "Epoch 2" without a step. The first
// one that is heard is no event, and the first gap may hold the start-up; the middle one counts.
double length_between_events(const Run& run, std::span<const double> clock) {
  std::vector<double> gaps;
  std::optional<double> last;
  for (const Event& event : run.events) {
    if (event.kind != EventKind::epoch || event.instant >= clock.size()) continue;
    const double at = clock[event.instant];
    if (last && at > *last) gaps.push_back(at - *last);
    last = at;
  }
  return gaps.empty() ? 0 : upper_median(gaps);
}

}  // namespace

std::string FactKind::spelled(char joint) const {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', joint);
  return text;
}

std::string FactKind::told(const Fact& fact) const {
  if (is_name()) return fact.text;
  return is_memory() ? format_mb(fact.value) : fmt::format("{:.10g}", fact.value);
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
  double logged = length_as_logged(run, clock, steps);
  if (!steps && logged <= 0) logged = length_between_events(run, clock);
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
