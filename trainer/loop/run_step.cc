// SPDX-License-Identifier: Apache-2.0
// One step of training: batches in, one change of the weights out.
//
// Where a step's loss is divided. Two batches of 10 and of 90 labelled tokens with mean losses 3.0
// and 1.0: dividing the sum by all 100 tokens gives 1.2, the mean of the two means gives 2.0, and
// the answer would change with the way examples are cut into batches. So each batch sends back the
// gradients of its sum, and all of them are divided once, when the tokens of the step are known, of
// all processes. No batch is held back for that: one is in memory at a time.
//
// Exactness. The order of batches, the seed of a step and the learning rate are functions of the
// position; weights, optimizer states and the position are in the checkpoint. Nothing else carries
// over from one step to the next, so a resumed run cannot differ.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "trainer/loop/memory_tracker.h"
#include "trainer/loop/run.h"
#include "trainer/loop/tensors.h"

namespace plateau::train {
namespace {

std::string examples_of(const Batch& batch) {
  std::vector<size_t> lines;
  for (size_t i = 0; i < std::min<size_t>(batch.examples.size(), 8); ++i) {
    lines.push_back(batch.examples[i] + 1);
  }
  return fmt::format("example{} {}{}", batch.examples.size() == 1 ? "" : "s",
                     fmt::join(lines, ", "), batch.examples.size() > 8 ? ", ..." : "");
}

}  // namespace

int64_t resident_bytes() {
  long pages_all = 0;
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  const int got = std::fscanf(file, "%ld %ld", &pages_all, &pages);  // NOLINT: fixed format
  std::fclose(file);
  return got == 2 ? pages * ::sysconf(_SC_PAGESIZE) : 0;
}

Result<bool> Run::step() {
  const RunClock::time_point begin = RunClock::now();
  begin_tracked_step();
  optimizer_.zero_grad();
  Position& position = state_.position;
  seed_generator(step_seed(options_.seed, position.step, rank()));
  const int64_t count = std::min(options_.accumulate, plan_.batches_per_epoch - position.batch);
  Totals totals;
  const Done taken = take_batches(count, totals);
  if (auto shared = share(totals, taken); !shared.ok()) return shared.error();
  position.batch += count;
  if (position.batch >= plan_.batches_per_epoch) position = {position.step, position.epoch + 1, 0};
  if (totals.batches == 0) return false;

  const PhaseScope phase(MemoryPhase::optimizer);
  if (options_.peers != nullptr) {
    if (auto summed = options_.peers->sum_gradients(trainable_); !summed.ok()) {
      return summed.error();
    }
  }
  const auto divisor =
      static_cast<double>(options_.per_batch_mean ? totals.batches : totals.labelled);
  optimizer_.scale_gradients(1 / divisor);
  const double norm = optimizer_.clip();
  if (!std::isfinite(norm)) {
    return Error{Error::Kind::bad_input,
                 fmt::format("step {}: the gradients are not finite (norm {}) although the losses "
                             "are. Try a lower learning rate",
                             position.step + 1, norm)};
  }
  const double rate = options_.optimizer.learning_rate *
                      schedule_factor(options_.schedule, position.step, plan_.warmup_steps,
                                      plan_.total_steps, options_.optimizer.learning_rate);
  optimizer_.step(rate);
  ++position.step;
  state_.epoch = epochs_done(position, plan_);
  state_.tokens_seen += totals.tokens;
  release_kept_blocks();
  const TensorMemory memory = tensor_memory();
  last_ = {.step = position.step,
           .total_steps = plan_.total_steps,
           .epoch = state_.epoch,
           .loss = (options_.per_batch_mean ? totals.means : totals.loss) / divisor,
           .learning_rate = rate,
           .grad_norm = norm,
           .tokens = totals.tokens,
           .seconds = seconds_since(begin),
           .resident_bytes = resident_bytes(),
           .tensor_bytes = memory.live_bytes,
           .tensor_storages = memory.live_storages,
           .tensor_peak_bytes = memory.step_peak_bytes};
  return true;
}

Done Run::take_batches(int64_t count, Totals& totals) {
  for (int64_t i = 0; i < count; ++i) {
    Result<std::optional<Batch>> batch = [&] {
      const PhaseScope phase(MemoryPhase::data);
      return training_.next();
    }();
    if (!batch.ok()) {
      totals.data_failures = 1;
      return batch.error();
    }
    if (!batch.value()) break;
    if (batch.value()->rows == 0) continue;
    largest_batch_bytes_ = std::max(largest_batch_bytes_, batch.value()->bytes());
    if (auto taken = take_batch(*batch.value(), totals); !taken.ok()) return taken;
  }
  return std::monostate{};
}

Done Run::take_batch(const Batch& batch, Totals& totals) {
  Result<LossSum> loss = [&] {
    const PhaseScope phase(MemoryPhase::forward);
    return learner_.forward(batch);
  }();
  const int64_t step = state_.position.step + 1;
  if (!loss.ok()) {
    return Error{loss.error().kind,
                 fmt::format("step {}, {}: {}", step, examples_of(batch), loss.error().message)};
  }
  const double value = value_of(loss.value().sum);
  const auto labelled = static_cast<double>(loss.value().labelled);
  if (!std::isfinite(value)) {
    // Before the first step nothing was learned that could have gone wrong.
    const char* advice = step == 1 ? "Look at the base model's weights, or at these examples"
                                   : "Try a lower learning rate, or look at these examples; the "
                                     "last checkpoint is as it was";
    return Error{Error::Kind::bad_input, fmt::format("step {}: the loss of {} is {}. {}", step,
                                                     examples_of(batch), value, advice)};
  }
  if (loss.value().labelled <= 0) {
    return Error{Error::Kind::bad_input,
                 fmt::format("step {}: {} have no labelled token", step, examples_of(batch))};
  }
  totals.loss += value;
  totals.means += value / labelled;
  totals.labelled += loss.value().labelled;
  totals.tokens += batch.tokens;
  ++totals.batches;
  const PhaseScope phase(MemoryPhase::backward);
  return add_gradients(loss.value().sum, options_.per_batch_mean ? 1 / labelled : 1);
}

// Totals of all processes. An error of one is an error of all, at once and not after a time-out.
Done Run::share(Totals& totals, const Done& own) {
  if (options_.peers == nullptr) {
    data_failed_ = totals.data_failures > 0;
    return own;
  }
  const auto sums =
      options_.peers->sum({totals.loss, totals.means, static_cast<double>(totals.labelled),
                           static_cast<double>(totals.batches), static_cast<double>(totals.tokens),
                           own.ok() ? 0.0 : 1.0, static_cast<double>(totals.data_failures)});
  if (!sums.ok()) return own.ok() ? Done(sums.error()) : own;
  const std::vector<double>& all = sums.value();
  // All save or none: a checkpoint is written together.
  data_failed_ = all[6] > 0;
  if (!own.ok()) return own;
  if (all[5] > 0) {
    return Error{
        Error::Kind::bad_input,
        fmt::format("rank {} stops because another process failed; its message tells why", rank())};
  }
  totals = {.loss = all[0],
            .means = all[1],
            .labelled = std::llround(all[2]),
            .batches = std::llround(all[3]),
            .tokens = std::llround(all[4])};
  return std::monostate{};
}

}  // namespace plateau::train
