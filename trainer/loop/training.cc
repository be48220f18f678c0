// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/training.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "trainer/loop/heap.h"
#include "trainer/loop/memory_tracker.h"
#include "trainer/loop/run.h"
#include "trainer/loop/tensors.h"

namespace plateau::train {

std::vector<std::pair<std::string, double>> measures_of(const EvalReport& report) {
  if (!report.answers) return {};
  std::vector<std::pair<std::string, double>> out = {
      {"exact_match", report.answers->exact_match()}};
  if (report.answers->json_expected == 0) return out;
  out.emplace_back("json_valid", report.answers->json_validity());
  out.emplace_back("json_fields", report.answers->field_accuracy());
  return out;
}

Result<TrainingResult> Run::go() {
  // An error of one process must reach the others, who wait for it.
  Totals none;
  const Done prepared = prepare();
  if (auto shared = share(none, prepared); !shared.ok()) return shared.error();
  if (auto agreed = agree_on_start(); !agreed.ok()) return agreed.error();
  observer_.began(plan_.total_steps, state_.position.step);
  if (state_.position.step >= plan_.total_steps) return result(StopReason::finished);
  training_.start(state_.position.epoch, state_.position.batch);
  int64_t steps_of_epoch = state_.position.batch > 0 ? 1 : 0;
  while (true) {
    const int64_t epoch = state_.position.epoch;
    auto stepped = step();
    if (!stepped.ok()) return save_before(stepped.error());
    if (stepped.value()) {
      ++steps_of_epoch;
      if (auto noted = after_step(last_); !noted.ok()) return save_before(noted.error());
      auto reason = reason_to_stop();
      if (!reason.ok()) return reason.error();
      if (reason.value() || is_due(options_.save_steps)) {
        if (auto saved = save(); !saved.ok()) return saved.error();
      }
      if (reason.value()) return result(*reason.value());
    }
    if (state_.position.epoch != epoch) {
      if (steps_of_epoch == 0) {
        return Error{Error::Kind::no_samples, "a whole epoch had no usable example"};
      }
      steps_of_epoch = 0;
      training_.start(state_.position.epoch, 0);
    }
  }
}

Done Run::after_step(const StepReport& report) {
  state_.pending_loss += report.loss;
  ++state_.pending_steps;
  if (is_due(options_.logging_steps)) {
    const auto steps = static_cast<double>(state_.pending_steps);
    state_.log.push_back({.step = report.step,
                          .epoch = report.epoch,
                          .values = {{"loss", state_.pending_loss / steps},
                                     {"grad_norm", report.grad_norm},
                                     {"learning_rate", report.learning_rate}}});
    state_.pending_loss = 0;
    state_.pending_steps = 0;
  }
  observer_.stepped(report);
  if (log_) {
    if (auto added = log_->add(report); !added.ok()) return added;
  }
  if (options_.cleanup_every > 0 && is_due(options_.cleanup_every)) trim_heap();
  if (is_eval_due()) return evaluate();
  return std::monostate{};
}

Done Run::evaluate_batches(Totals& totals) {
  evaluation_->start(0, 0);
  while (true) {
    auto batch = evaluation_->next();
    if (!batch.ok()) {
      totals.data_failures = 1;
      return batch.error();
    }
    if (!batch.value()) return std::monostate{};
    if (batch.value()->rows == 0) continue;
    auto loss = learner_.evaluate(*batch.value());
    if (!loss.ok()) return loss.error();
    totals.loss += value_of(loss.value().sum);
    totals.labelled += loss.value().labelled;
  }
}

// The answers of all processes; an error of one is an error of all.
Result<AnswerScore> Run::ask_all() {
  const Result<AnswerScore> own = options_.ask(rank(), world());
  release_kept_blocks();
  Totals failures{.data_failures = own.ok() ? 0 : 1};
  const Done told = own.ok() ? Done(std::monostate{}) : Done(own.error());
  if (auto shared = share(failures, told); !shared.ok()) return shared.error();
  if (options_.peers == nullptr) return own;
  const AnswerScore& mine = own.value();
  std::vector<double> counts;
  for (const int64_t count : {mine.asked, mine.exact, mine.json_expected, mine.json_valid,
                              mine.fields, mine.fields_right, mine.fields_extra}) {
    counts.push_back(static_cast<double>(count));
  }
  const auto sums = options_.peers->sum(counts);
  if (!sums.ok()) return sums.error();
  const auto at = [&](size_t i) { return static_cast<int64_t>(std::llround(sums.value()[i])); };
  return AnswerScore{.asked = at(0),
                     .exact = at(1),
                     .json_expected = at(2),
                     .json_valid = at(3),
                     .fields = at(4),
                     .fields_right = at(5),
                     .fields_extra = at(6)};
}

Done Run::evaluate() {
  const RunClock::time_point begin = RunClock::now();
  const int64_t step = state_.position.step;
  observer_.evaluation_began(step);
  const PhaseScope phase(MemoryPhase::eval);
  Totals totals;
  const Done taken = evaluate_batches(totals);
  release_kept_blocks();
  if (auto shared = share(totals, taken); !shared.ok()) return shared;
  const double loss = totals.loss / static_cast<double>(totals.labelled);
  if (!std::isfinite(loss)) {
    return Error{Error::Kind::bad_input,
                 fmt::format("evaluation at step {}: the loss over {} labelled tokens is {}", step,
                             totals.labelled, loss)};
  }
  EvalReport report{.step = step, .loss = loss};
  if (options_.ask) {
    const Result<AnswerScore> answers = ask_all();
    if (!answers.ok()) return answers.error();
    report.answers = answers.value();
  }
  report.is_best = !state_.best_metric || loss < *state_.best_metric;
  const bool gains =
      !state_.best_metric || loss < *state_.best_metric - options_.early_stopping_threshold;
  state_.evaluations_without_gain = gains ? 0 : state_.evaluations_without_gain + 1;
  state_.log.push_back({.step = step, .epoch = state_.epoch, .values = {{"eval_loss", loss}}});
  for (const auto& [name, value] : measures_of(report)) {
    state_.log.back().values["eval_" + name] = value;
  }
  report.seconds = seconds_since(begin);
  observer_.evaluated(report);
  if (log_) {
    if (auto added = log_->add(report); !added.ok()) return added;
  }
  if (!report.is_best) return std::monostate{};
  state_.best_metric = loss;
  state_.best_step = step;
  state_.best_checkpoint =
      (options_.output_directory / fmt::format("checkpoint-{}", step)).string();
  return save();
}

// Bad data has harmed nothing: the steps before it are kept. After any other error the last
// checkpoint is the one to trust.
Error Run::save_before(Error error) {
  if (!data_failed_ || state_.position.step == 0) return error;
  if (const Done saved = save(); !saved.ok()) {
    error.message +=
        fmt::format(" (and no checkpoint could be written: {})", saved.error().message);
    return error;
  }
  error.message += fmt::format("; saved {}: mend the data, then --resume --accept-changed-data",
                               last_checkpoint_.string());
  return error;
}

Done Run::save() {
  if (saved_step_ == state_.position.step) return std::monostate{};
  const Done written = [&]() -> Done {
    if (rank() != 0) return std::monostate{};
    Checkpoint checkpoint;
    checkpoint.state = state_;
    checkpoint.state.random_state = generator_state(trainable_.front().tensor);
    checkpoint.weights.reserve(trainable_.size());
    for (const NamedTensor& named : trainable_) {
      if (!is_finite(named.tensor)) {
        return Error{Error::Kind::bad_input,
                     fmt::format("step {}: {} has values that are not finite, which are not saved. "
                                 "Try a lower learning rate; the last checkpoint is as it was",
                                 state_.position.step, named.name)};
      }
      checkpoint.weights.push_back({.name = named.name, .tensor = on_host(named.tensor)});
    }
    checkpoint.optimizer = optimizer_.state();
    for (StateTensor& state : checkpoint.optimizer) state.tensor = on_host(state.tensor);
    checkpoint.adapter_config_json = options_.adapter_config_json;
    checkpoint.layout = options_.adapter_layout;
    auto path = write_checkpoint(options_.output_directory, checkpoint);
    if (!path.ok()) return path.error();
    last_checkpoint_ = path.value();
    auto pruned = prune_checkpoints(options_.output_directory, options_.save_total_limit,
                                    state_.best_checkpoint);
    if (!pruned.ok()) return pruned;
    return log_->add_checkpoint(state_.position.step, last_checkpoint_);
  }();
  Totals none;
  if (auto shared = share(none, written); !shared.ok()) return shared;
  saved_step_ = state_.position.step;
  last_checkpoint_ = options_.output_directory / fmt::format("checkpoint-{}", state_.position.step);
  observer_.checkpointed(saved_step_, last_checkpoint_);
  return std::monostate{};
}

Result<std::optional<StopReason>> Run::reason_to_stop() {
  using Reason = std::optional<StopReason>;
  bool asked = stop_ && stop_();
  bool too_large =
      options_.memory_limit_bytes > 0 && resident_bytes() > options_.memory_limit_bytes;
  if (options_.peers != nullptr) {
    const auto sums = options_.peers->sum({asked ? 1.0 : 0.0, too_large ? 1.0 : 0.0});
    if (!sums.ok()) return sums.error();
    asked = sums.value()[0] > 0;
    too_large = sums.value()[1] > 0;
  }
  if (state_.position.step >= plan_.total_steps) return Reason(StopReason::finished);
  if (options_.early_stopping_patience > 0 && is_eval_due() &&
      state_.evaluations_without_gain >= options_.early_stopping_patience) {
    return Reason(StopReason::early);
  }
  if (asked) return Reason(StopReason::signal);
  if (too_large) return Reason(StopReason::memory_limit);
  return Reason();
}

TrainingResult Run::result(StopReason reason) const {
  return {.reason = reason,
          .steps = state_.position.step,
          .last_loss = last_.loss,
          .best_eval_loss = state_.best_metric,
          .last_checkpoint = last_checkpoint_,
          .best_checkpoint = state_.best_checkpoint,
          .memory = memory()};
}

RunMemory Run::memory() const {
  RunMemory out;
  for (const NamedTensor& named : trainable_) {
    out.adapters += bytes_of(named.tensor);
    out.gradients += gradient_bytes(named.tensor);
  }
  out.optimizer = optimizer_.state_bytes();
  const TensorMemory tensors = tensor_memory();
  out.activations = tensors.graph_peak_bytes;
  out.logits = tensors.peak_by_phase[static_cast<size_t>(MemoryPhase::logits)];
  out.images = largest_batch_bytes_;
  return out;
}

Result<TrainingResult> train(Learner& learner, BatchSource& training, BatchSource* evaluation,
                             const TrainingOptions& options, TrainingObserver& observer,
                             const std::function<bool()>& stop) {
  return Run(learner, training, evaluation, options, observer, stop).go();
}

}  // namespace plateau::train
