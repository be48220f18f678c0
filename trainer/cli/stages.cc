// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/stages.h"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "base/units.h"
#include "report/terminal.h"
#include "trainer/cli/result.h"
#include "trainer/cli/verbs.h"
#include "trainer/cli/watching.h"
#include "trainer/loop/memory_tracker.h"
#include "trainer/loop/tensors.h"
#include "trainer/model/qwen.h"

namespace plateau::train {
namespace {

LoaderOptions with_packs(LoaderOptions options, const Planned& planned) {
  options.packs = planned.packs;
  return options;
}

// One epoch's worth of what a stage does, batch by batch.
class StageRunner {
 public:
  StageRunner(const TrainRequest& request, const Job& job, const Planned& planned)
      : request_(request),
        job_(job),
        planned_(planned),
        loader_(job.dataset, job.tokenizer, with_packs(job.loader, planned)) {}

  std::optional<Error> load() {
    if (request_.stage != Stage::forward && request_.stage != Stage::backward) return std::nullopt;
    install_memory_tracker();
    Result<std::unique_ptr<QwenVl>> model =
        load_model(request_.sizing.model_directory, job_.config, request_.sizing.model);
    if (!model) return model.error();
    model_ = std::move(model.value());
    return std::nullopt;
  }

  void start(int64_t epoch) {
    order_ = epoch_order(planned_.rows(), job_.loader.seed, epoch, true);
    next_ = 0;
    if (request_.stage != Stage::data) loader_.start(epoch, 0);
  }

  // False at the end of the epoch.
  Result<bool> batch() {
    if (request_.stage == Stage::data) return read_lines();
    Result<std::optional<Batch>> made = loader_.next();
    if (!made) return made.error();
    if (!made.value()) return false;
    if (model_ == nullptr) return true;
    const Batch& batch = *made.value();
    if (request_.stage == Stage::forward) {
      const Result<LossSum> loss = model_->evaluate(batch);
      if (!loss) return loss.error();
      loss_ =
          value_of(loss.value().sum) / static_cast<double>(std::max<int64_t>(batch.labelled, 1));
      return true;
    }
    const Result<LossSum> loss = model_->forward(batch);
    if (!loss) return loss.error();
    loss_ = value_of(loss.value().sum) / static_cast<double>(std::max<int64_t>(batch.labelled, 1));
    const Result<std::monostate> added = add_gradients(loss.value().sum, 1.0);
    if (!added) return added.error();
    return true;
  }

  [[nodiscard]] double loss() const { return loss_; }
  [[nodiscard]] int64_t batches() const { return loader_.batches_per_epoch(); }

 private:
  Result<bool> read_lines() {
    for (int64_t i = 0; i < job_.loader.batch_size; ++i) {
      if (next_ >= order_.size()) return i > 0;
      const size_t row = order_[next_++];
      const std::span<const size_t> examples =
          planned_.packs ? planned_.packs->row(row) : std::span(&row, 1);
      for (const size_t index : examples) {
        const Result<Example> example = job_.dataset.read(index);
        if (!example) return example.error();
      }
    }
    return true;
  }

  const TrainRequest& request_;
  const Job& job_;
  const Planned& planned_;
  Loader loader_;
  std::unique_ptr<QwenVl> model_;
  std::vector<size_t> order_;
  size_t next_ = 0;
  double loss_ = 0;
};

}  // namespace

int run_stage(const Invocation& invocation, const TrainRequest& request, const Job& job,
              const Planned& planned, const View& view) {
  const auto fail = [&](const Error& error) { return complain(invocation, error.message); };
  StageRunner stage(request, job, planned);
  if (const std::optional<Error> error = stage.load()) return fail(*error);
  const int64_t accumulate = request.sizing.accumulate;
  const auto examples = static_cast<double>(job.dataset.size());
  const auto rows = static_cast<double>(planned.rows());
  const double epoch_steps = rows / static_cast<double>(job.loader.batch_size * accumulate);
  const double batch = examples / epoch_steps;
  const auto steps = static_cast<int64_t>(std::ceil(epoch_steps * request.training.epochs));
  const int64_t total = request.training.max_steps > 0 ? request.training.max_steps : steps;
  Watching watching(invocation.out, view,
                    {.examples = examples, .batch = batch, .epoch_steps = epoch_steps},
                    request.training.logging_steps, request.quiet);
  watching.began(total, 0);
  int64_t step = 0;
  int64_t batches = 0;
  for (int64_t epoch = 0; step < total; ++epoch) {
    stage.start(epoch);
    while (step < total) {
      const Result<bool> more = stage.batch();
      if (!more) return fail(more.error());
      if (!more.value()) break;
      if (++batches % accumulate != 0) continue;
      ++step;
      release_kept_blocks();
      const TensorMemory tensors = tensor_memory();
      watching.stepped({.step = step,
                        .total_steps = total,
                        .epoch = static_cast<double>(step) / epoch_steps,
                        .loss = stage.loss(),
                        .resident_bytes = own_memory().resident_bytes,
                        .tensor_bytes = tensors.live_bytes,
                        .tensor_storages = tensors.live_storages});
    }
    if (batches == 0) return complain(invocation, "the dataset gives no batch");
  }
  watching.finish();
  invocation.out.print(fmt::format("Ran {} alone for {} steps; nothing was trained or written.\n\n",
                                   *invocation.arguments.text("only"), format_count(step)));
  invocation.out.print(render_verdict(watching.self().verdict(), view));
  return 0;
}

}  // namespace plateau::train
