// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/units.h"
#include "command/exit_code.h"
#include "command/screen.h"
#include "trainer/cli/job.h"
#include "trainer/cli/train_options.h"
#include "trainer/cli/verbs.h"
#include "trainer/plan/plan_text.h"
#include "trainer/store/narrowed_lora.h"

namespace plateau::train {
namespace {

constexpr int64_t kPatchPixels = 196;
constexpr int64_t kPatchesOfAToken = 4;

int64_t number(const Arguments& arguments, std::string_view option, int64_t otherwise) {
  return static_cast<int64_t>(arguments.number(option).value_or(static_cast<double>(otherwise)));
}

// An example as the options describe it, where there is no dataset to look at.
Result<ExampleShape> described(const Arguments& arguments, const Sizing& sizing) {
  const int64_t pixels =
      std::min(number(arguments, "pixels", 1003520), sizing.loader.processor.max_pixels);
  ExampleShape shape;
  shape.patches = pixels / kPatchPixels;
  const int64_t pictured = shape.patches / kPatchesOfAToken;
  const bool has_tokens = arguments.has("tokens");
  shape.tokens = number(arguments, "tokens", sizing.loader.max_seq_length);
  if (has_tokens && shape.tokens > sizing.loader.max_seq_length &&
      arguments.has("max-seq-length")) {
    return Error{.kind = Error::Kind::usage,
                 .message = fmt::format("--tokens {} is more than --max-seq-length {} allows",
                                        shape.tokens, sizing.loader.max_seq_length)};
  }
  // The picture's own tokens, the two around them, and something to learn.
  const int64_t least = pictured > 0 ? pictured + 3 : 2;
  if (shape.tokens < least) {
    return Error{
        .kind = Error::Kind::usage,
        .message = fmt::format(
            "{} {}: pictures of {} pixels (--pixels) need {} tokens, and {} are the least",
            has_tokens ? "--tokens" : "--max-seq-length", shape.tokens, pixels, pictured, least)};
  }
  shape.labelled = std::min(number(arguments, "labelled", 256), shape.tokens - pictured);
  shape.picture_bytes = pixels * 6;
  return shape;
}

Result<PlanRequest> request_of(const Arguments& arguments, const Sizing& sizing, int64_t threads) {
  if (!arguments.has("preset") && sizing.model_directory.empty()) {
    return Error{.kind = Error::Kind::usage, .message = "--preset or --base-model is missing"};
  }
  if (!sizing.dataset.empty()) {
    if (arguments.has("preset")) {
      return Error{.kind = Error::Kind::usage,
                   .message = "--dataset needs --base-model, for its tokenizer"};
    }
    const Result<Job> job = open_job(sizing);
    if (!job) return job.error();
    Result<Planned> planned = plan_job(job.value(), sizing, threads);
    if (!planned) return planned.error();
    return planned.value().request;
  }
  if (!sizing.eval_dataset.empty()) {
    return Error{.kind = Error::Kind::usage, .message = "--eval-dataset needs --dataset"};
  }
  const Result<ExampleShape> shape = described(arguments, sizing);
  if (!shape) return shape.error();
  Result<ModelConfig> config = arguments.has("preset") ? preset_config(*arguments.text("preset"))
                                                       : read_model_config(sizing.model_directory);
  if (!config) return config.error();
  if (const auto found = check_targets(config.value(), sizing.model.lora); !found) {
    return found.error();
  }
  ModelOptions model = sizing.model;
  model.lora = narrowed(config.value(), model.lora);
  return PlanRequest{.config = std::move(config.value()),
                     .model = model,
                     .is_8bit_optimizer = sizing.optimizer == OptimizerKind::adamw_8bit,
                     .batch_size = sizing.loader.batch_size,
                     .largest = shape.value(),
                     .packed = sizing.packs
                                   ? filled_row(shape.value(), sizing.loader.max_seq_length)
                                   : ExampleShape{},
                     .workers = sizing.loader.workers,
                     .queue = sizing.loader.queue,
                     .threads = threads};
}

int run_plan(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const Result<Sizing> sizing = sizing_of(arguments);
  if (!sizing) return complain(invocation, sizing.error().message);
  if (sizing.value().model.device != "cpu") {
    return complain(invocation,
                    fmt::format("--device {}: GPU memory of Plateau's own trainer is not planned; "
                                "'plateau plan MODEL --for trl --device cuda' plans TRL's",
                                sizing.value().model.device));
  }
  const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  const int64_t threads = number(arguments, "threads", cores);
  const Result<PlanRequest> request = request_of(arguments, sizing.value(), threads);
  if (!request) return complain(invocation, request.error().message);
  const Plan plan = make_plan(request.value());
  std::optional<int64_t> limit;
  std::vector<PlanChange> changes;
  if (const std::optional<double> limit_mb = arguments.memory_mb("limit")) {
    limit = static_cast<int64_t>(*limit_mb * kBytesPerMb);
    changes = changes_to_fit(request.value(), sizing.value().accumulate, *limit);
  }
  const bool fits = !limit || plan.peak_bytes <= *limit;
  if (arguments.has("json")) {
    invocation.out.print(plan_json(plan, request.value(), changes, limit));
  } else {
    const View view = choose_view(look_around(), "auto", std::nullopt);
    const bool is_packed = request.value().packed.tokens > 0;
    const ExampleShape& largest = is_packed ? request.value().packed : request.value().largest;
    invocation.out.print("Plateau's own trainer on the CPU: host RAM, planned\n");
    invocation.out.print(packing_text(request.value(), sizing.value().accumulate, 1));
    invocation.out.print(fmt::format(
        "For batches of {}{} with {} tokens ({} labelled) and {} patches "
        "each:\n",
        request.value().batch_size, is_packed ? " packed rows" : "", format_count(largest.tokens),
        format_count(largest.labelled), format_count(largest.patches)));
    invocation.out.print(plan_table(plan, nullptr, view.width));
    if (limit) invocation.out.print(fit_text(plan, changes, *limit));
  }
  return fits ? kExitFine : kExitLeak;
}

}  // namespace

Verb plan_command() {
  Verb verb = plan_verb();
  verb.run = run_plan;
  return verb;
}

}  // namespace plateau::train
