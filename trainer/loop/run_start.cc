// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "trainer/loop/durable.h"
#include "trainer/loop/run.h"
#include "trainer/loop/tensors.h"

namespace plateau::train {

Done Run::prepare() {
  auto plan = plan_run(options_, training_.batches_per_epoch());
  if (!plan.ok()) return plan.error();
  plan_ = plan.value();
  if (trainable_.empty()) return Error{Error::Kind::usage, "nothing of the model is to be trained"};
  if (options_.resume_from) {
    if (auto resumed = resume(); !resumed.ok()) return resumed;
  } else if (const auto old = list_checkpoints(options_.output_directory);
             rank() == 0 && !old.empty()) {
    return Error{Error::Kind::usage,
                 fmt::format("{} holds {} already: resume from it, or choose another directory",
                             options_.output_directory.string(), old.back().filename().string())};
  }
  state_.total_steps = plan_.total_steps;
  state_.logging_steps = options_.logging_steps;
  state_.save_steps = options_.save_steps;
  state_.eval_steps = eval_steps();
  state_.batch_size = options_.batch_size;
  state_.epochs = options_.epochs;
  state_.config_fingerprint = settings_fingerprint(options_, plan_.batches_per_epoch, world());
  state_.dataset_fingerprint = options_.dataset_fingerprint;
  if (rank() != 0) return std::monostate{};
  remove_leftovers(options_.output_directory);
  auto log = RunLog::open(options_.output_directory,
                          options_.resume_from ? state_.position.step : int64_t{-1});
  if (!log.ok()) return log.error();
  log_.emplace(std::move(log.value()));
  return std::monostate{};
}

Done Run::resume() {
  const std::filesystem::path& from = *options_.resume_from;
  auto read = read_checkpoint(from);
  if (!read.ok()) return read.error();
  Checkpoint& checkpoint = read.value();
  if (auto same = check_same_run(checkpoint.state); !same.ok()) return same;
  std::vector<TensorView> weights;
  weights.reserve(checkpoint.weights.size());
  for (const StateTensor& weight : checkpoint.weights) {
    weights.push_back(view_of(weight.name, weight.tensor));
  }
  auto filled = fill_weights(trainable_, weights, from.string(),
                             [&](size_t place) { checkpoint.weights[place].tensor.reset(); });
  if (!filled.ok()) return filled;
  auto restored =
      optimizer_.restore(std::move(checkpoint.optimizer), checkpoint.state.position.step);
  if (!restored.ok()) return restored;
  auto set = set_generator_state(trainable_.front().tensor, checkpoint.state.random_state);
  if (!set.ok()) return set;
  state_ = std::move(checkpoint.state);
  if (state_.position.batch >= plan_.batches_per_epoch) {
    state_.position = {state_.position.step, state_.position.epoch + 1, 0};
  }
  find_best();
  last_checkpoint_ = from;
  saved_step_ = state_.position.step;
  return std::monostate{};
}

// The settings must be those of the run; the dataset too, or the user has said that it is not.
Done Run::check_same_run(const TrainerState& before) {
  const std::string from = options_.resume_from->string();
  const bool is_changed = before.dataset_fingerprint != options_.dataset_fingerprint;
  if (is_changed && !options_.accepts_changed_data) {
    return Error{Error::Kind::usage,
                 fmt::format("{} was written with another dataset (fingerprint {}, now {}): going "
                             "on would mix up which examples were seen. Start a new run, or say "
                             "--accept-changed-data",
                             from, before.dataset_fingerprint, options_.dataset_fingerprint)};
  }
  const std::string now = settings_fingerprint(options_, plan_.batches_per_epoch, world());
  // Another number of examples is what was consented to.
  const bool is_longer = is_changed && !same_but_for(before.config_fingerprint, now, "");
  if (!same_but_for(before.config_fingerprint, now, is_changed ? "batches_per_epoch" : "")) {
    return Error{
        Error::Kind::usage,
        fmt::format("{} was written with other settings: {}. Use the same, or start a new run",
                    from, fingerprint_difference(before.config_fingerprint, now))};
  }
  if (is_changed) {
    observer_.noted(fmt::format(
        "the dataset is another than at step {}: {}", before.position.step,
        is_longer ? "it has another number of batches, so this epoch may see an example twice or "
                    "not at all"
                  : "it has as many batches, and goes on in the same order"));
  }
  return std::monostate{};
}

// The best checkpoint by its step: the folder may have been moved since its name was written.
void Run::find_best() {
  if (!state_.best_metric) return;
  const std::string name = fmt::format("checkpoint-{}", state_.best_step);
  for (const std::filesystem::path& folder :
       {options_.output_directory, options_.resume_from->parent_path(),
        std::filesystem::path(state_.best_checkpoint).parent_path()}) {
    std::error_code code;
    if (std::filesystem::exists(folder / name / "plateau_state.json", code)) {
      state_.best_checkpoint = (folder / name).string();
      return;
    }
  }
  observer_.noted(
      fmt::format("{}, the best one so far, is not there any more: the next evaluation "
                  "counts as the first",
                  name));
  state_.best_metric.reset();
  state_.best_checkpoint.clear();
  state_.best_step = 0;
}

// All processes have the same number of batches and the same position; rank 0's weights are used.
Done Run::agree_on_start() {
  if (options_.peers == nullptr) return std::monostate{};
  const std::vector<double> mine{
      static_cast<double>(plan_.batches_per_epoch), static_cast<double>(plan_.total_steps),
      static_cast<double>(state_.position.step), static_cast<double>(trainable_.size())};
  const auto sums = options_.peers->sum(mine);
  if (!sums.ok()) return sums.error();
  for (size_t i = 0; i < mine.size(); ++i) {
    if (sums.value()[i] != mine[i] * world()) {
      return Error{Error::Kind::usage,
                   fmt::format("rank {} has {} batches an epoch, {} steps, begins at step {} and "
                               "trains {} tensors; another process does not",
                               rank(), mine[0], mine[1], mine[2], mine[3])};
    }
  }
  return options_.peers->broadcast(trainable_);
}

}  // namespace plateau::train
