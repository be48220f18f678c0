// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace plateau::train {
namespace {

std::string_view take_field(std::string_view& rest) {
  const size_t end = rest.find("; ");
  const std::string_view field = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 2);
  return field;
}

// The mixing step of SplitMix64.
uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31U);
}

}  // namespace

Result<RunPlan> plan_run(const TrainingOptions& options, int64_t batches_per_epoch) {
  if (batches_per_epoch <= 0) {
    return Error{Error::Kind::no_samples, "the dataset has no batch to train on"};
  }
  if (options.accumulate < 1) {
    return Error{Error::Kind::usage, "a step needs at least one batch to accumulate"};
  }
  RunPlan plan{.batches_per_epoch = batches_per_epoch};
  plan.steps_per_epoch = (batches_per_epoch + options.accumulate - 1) / options.accumulate;
  plan.total_steps = options.max_steps;
  if (options.max_steps <= 0) {
    const double steps = options.epochs * static_cast<double>(plan.steps_per_epoch);
    if (!(steps > 0 && steps < 1e15)) {
      return Error{Error::Kind::usage, fmt::format("{} epochs are nothing to do", options.epochs)};
    }
    plan.total_steps = static_cast<int64_t>(std::ceil(steps));
  }
  plan.warmup_steps = options.warmup_steps;
  if (options.warmup_ratio) {
    const double ratio = *options.warmup_ratio;
    if (!(ratio >= 0 && ratio <= 1)) {
      return Error{Error::Kind::usage,
                   fmt::format("--warmup-ratio {}: a share of the steps is 0 to 1", ratio)};
    }
    plan.warmup_steps =
        static_cast<int64_t>(std::ceil(ratio * static_cast<double>(plan.total_steps)));
  }
  return plan;
}

double epochs_done(const Position& position, const RunPlan& plan) {
  return static_cast<double>(position.epoch) +
         static_cast<double>(position.batch) / static_cast<double>(plan.batches_per_epoch);
}

std::string settings_fingerprint(const TrainingOptions& options, int64_t batches_per_epoch,
                                 int world) {
  const OptimizerOptions& optimizer = options.optimizer;
  return fmt::format(
      "model={}; batch_size={}; batches_per_epoch={}; processes={}; accumulate={}; "
      "per_batch_mean={}; optimizer={}; learning_rate={}; beta1={}; beta2={}; epsilon={}; "
      "weight_decay={}; max_grad_norm={}; schedule={}; {}; seed={}",
      options.config_fingerprint, options.batch_size, batches_per_epoch, world, options.accumulate,
      options.per_batch_mean, optimizer.kind == OptimizerKind::adamw ? "adamw" : "adamw_8bit",
      optimizer.learning_rate, optimizer.beta1, optimizer.beta2, optimizer.epsilon,
      optimizer.weight_decay, optimizer.max_grad_norm, static_cast<int>(options.schedule),
      options.warmup_ratio ? fmt::format("warmup_ratio={}", *options.warmup_ratio)
                           : fmt::format("warmup_steps={}", options.warmup_steps),
      options.seed);
}

bool same_but_for(std::string_view before, std::string_view now, std::string_view field) {
  while (!before.empty() || !now.empty()) {
    const std::string_view old_field = take_field(before);
    const std::string_view new_field = take_field(now);
    const bool is_exempt = !field.empty() && old_field.substr(0, old_field.find('=')) == field &&
                           new_field.substr(0, new_field.find('=')) == field;
    if (old_field != new_field && !is_exempt) return false;
  }
  return true;
}

std::string fingerprint_difference(std::string_view before, std::string_view now) {
  while (!before.empty() || !now.empty()) {
    const std::string_view old_field = take_field(before);
    const std::string_view new_field = take_field(now);
    if (old_field == new_field) continue;
    const std::string_view name = new_field.substr(0, new_field.find('='));
    if (name.empty() || !old_field.starts_with(name) || old_field.size() <= name.size()) {
      return fmt::format("\"{}\" became \"{}\"", old_field, new_field);
    }
    return fmt::format("{} was {}, is {}", name, old_field.substr(name.size() + 1),
                       new_field.substr(std::min(name.size() + 1, new_field.size())));
  }
  return "";
}

uint64_t step_seed(uint64_t seed, int64_t step, int rank) {
  return mix(mix(mix(seed) ^ static_cast<uint64_t>(step)) ^ static_cast<uint64_t>(rank));
}

}  // namespace plateau::train
