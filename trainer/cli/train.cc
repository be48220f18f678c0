// SPDX-License-Identifier: Apache-2.0
// The run from its options to its result: plan, load, train, save, reconcile, judge.
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/units.h"
#include "command/screen.h"
#include "report/terminal.h"
#include "trainer/cli/answers.h"
#include "trainer/cli/data_checks.h"
#include "trainer/cli/job.h"
#include "trainer/cli/result.h"
#include "trainer/cli/stages.h"
#include "trainer/cli/tensorboard_log.h"
#include "trainer/cli/train_options.h"
#include "trainer/cli/verbs.h"
#include "trainer/cli/watching.h"
#include "trainer/data/ahead.h"
#include "trainer/device/device_name.h"
#include "trainer/loop/checkpoint.h"
#include "trainer/loop/distributed.h"
#include "trainer/loop/heap.h"
#include "trainer/loop/memory_tracker.h"
#include "trainer/loop/trained_model.h"
#include "trainer/model/runtime.h"
#include "trainer/plan/plan_text.h"

namespace plateau::train {
namespace {

constexpr int kExitEarly = 10;
constexpr int kExitMemory = 30;
constexpr int kSignalExit = 128;

volatile std::sig_atomic_t stop_signal = 0;

void note_signal(int number) {
  stop_signal = number;
}

// A checkpoint is written after the step; a second signal ends the process at once.
void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

// What must be the same when a run goes on: whatever changes a loss.
std::string fingerprint_of(const TrainRequest& request, const Job& job) {
  const ModelOptions& model = request.sizing.model;
  const ModelConfig& config = job.config;
  const LoaderOptions& loader = job.loader;
  return fmt::format(
      "hidden={}; layers={}; vocabulary={}; storage={}; rank={}; alpha={}; dropout={}; rslora={}; "
      "vision={}; language={}; attention={}; mlp={}; batch={}; min-pixels={}; max-pixels={}; "
      "length={}; loss={}; order={}{}",
      config.hidden_size, config.layers, config.vocab_size, static_cast<int>(model.storage),
      model.lora.rank, model.lora.alpha, model.lora.dropout, model.lora.rslora, model.lora.vision,
      model.lora.language, model.lora.attention, model.lora.mlp, loader.batch_size,
      loader.processor.min_pixels, loader.processor.max_pixels, loader.max_seq_length,
      static_cast<int>(loader.loss), loader.seed,
      // Absent as long as nobody chooses: earlier checkpoints go on.
      fmt::format("{}{}{}{}{}{}",
                  model.lora.targets.empty()
                      ? ""
                      : fmt::format("; targets={}", fmt::join(model.lora.targets, ",")),
                  model.lora.dora ? "; dora=true" : "",
                  model.trained == Trained::everything ? "; trained=everything" : "",
                  request.sizing.packs ? "; packing=true" : "",
                  model.compute == ComputeType::bf16 ? "; compute=bf16" : "",
                  // Dropout's numbers are of a device's own generator.
                  model.device == "cpu" ? "" : "; device=cuda"));
}

std::optional<std::string> objection_to_output(const TrainRequest& request) {
  const auto found = list_checkpoints(request.training.output_directory);
  if (request.resumes || found.empty()) return std::nullopt;
  return fmt::format(
      "{} has checkpoints from an earlier run: use --resume to continue, or another --output-dir",
      request.training.output_directory.string());
}

RunFacts facts_of(const Planned& planned, const TrainRequest& request, int64_t world) {
  const auto examples = static_cast<double>(planned.shapes.examples);
  const auto rows = static_cast<double>(planned.rows());
  const double of_a_step =
      static_cast<double>(request.sizing.loader.batch_size * request.sizing.accumulate * world);
  return {
      .examples = examples, .batch = of_a_step * examples / rows, .epoch_steps = rows / of_a_step};
}

int exit_code_of(StopReason reason) {
  switch (reason) {
    case StopReason::finished:
      return 0;
    case StopReason::early:
      return kExitEarly;
    case StopReason::signal:
      return kSignalExit + static_cast<int>(stop_signal);
    case StopReason::memory_limit:
      return kExitMemory;
  }
  return 0;
}

void say_start(const Invocation& invocation, const TrainRequest& request, const Planned& planned,
               const View& view) {
  if (request.quiet) return;
  const Result<std::optional<PeerOptions>> peers = peer_options_from_environment();
  const int64_t processes = peers && peers.value() ? peers.value()->world : 1;
  invocation.out.print(packing_text(planned.request, request.sizing.accumulate, processes));
  const ExampleShape& largest = planned.shapes.largest;
  invocation.out.print(fmt::format(
      "{} examples ({} looked at): up to {} tokens, {} labelled, {} patches. Memory planned:\n",
      format_count(static_cast<int64_t>(planned.shapes.examples)),
      format_count(static_cast<int64_t>(planned.shapes.looked_at)), format_count(largest.tokens),
      format_count(largest.labelled), format_count(largest.patches)));
  invocation.out.print(plan_table(planned.plan, nullptr, view.width));
  if (const std::string& device = request.sizing.model.device; device != "cpu") {
    invocation.out.print(fmt::format(
        "With --device {} the lines from base to logits are memory of the GPU, the others of the "
        "host; they are counted as on a CPU.\n",
        device));
  }
  invocation.out.flush();
}

TrainingOptions settings_of(const TrainRequest& request, const Job& job, Peers* peers) {
  TrainingOptions settings = request.training;
  settings.config_fingerprint = fingerprint_of(request, job);
  settings.dataset_fingerprint = fmt::format("{:016x}", job.dataset.fingerprint());
  settings.batch_size = request.sizing.loader.batch_size;
  if (request.sizing.model.trained == Trained::adapters) {
    settings.adapter_config_json = adapter_config_text(adapter_config_of(request, job.config));
  }
  settings.peers = peers;
  return settings;
}

std::function<Result<AnswerScore>(int, int)> asker(const TrainRequest& request, const Job& job,
                                                   QwenVl& model) {
  if (request.sizing.eval_answers == 0) return nullptr;
  return [&](int rank, int world) {
    return answer_score(job, model,
                        {.count = request.sizing.eval_answers,
                         .max_new_tokens = request.sizing.max_new_tokens,
                         .rank = rank,
                         .world = world});
  };
}

// Null where this process trains alone.
Result<std::unique_ptr<Peers>> join_peers() {
  const Result<std::optional<PeerOptions>> wanted = peer_options_from_environment();
  if (!wanted) return wanted.error();
  if (!wanted.value()) return std::unique_ptr<Peers>();
  return Peers::join(*wanted.value());
}

// Null where nobody asked for curves, and in processes but the first.
Result<std::unique_ptr<TensorboardLog>> curves_for(const TrainRequest& request, bool is_first,
                                                   TrainingObserver& next) {
  if (request.tensorboard.empty() || !is_first) return std::unique_ptr<TensorboardLog>();
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  Result<TensorboardWriter> writer = TensorboardWriter::create(request.tensorboard.string(), now);
  if (!writer) return writer.error();
  return std::make_unique<TensorboardLog>(std::move(writer.value()), next);
}

// Everything after the plan. Returns the exit code.
int train_job(const Invocation& invocation, const TrainRequest& request, const Job& job,
              const Planned& planned, const View& view) {
  const auto fail = [&](const Error& error) { return complain(invocation, error.message); };
  const Result<std::unique_ptr<Peers>> joined = join_peers();
  if (!joined) return fail(joined.error());
  Peers* peers = joined.value().get();
  const bool is_first = peers == nullptr || peers->rank() == 0;
  install_memory_tracker();
  const int64_t runtime_bytes = own_memory().resident_bytes;
  Result<std::unique_ptr<QwenVl>> model =
      load_model(request.sizing.model_directory, job.config, request.sizing.model);
  if (!model) return fail(model.error());

  LoaderOptions options = job.loader;
  options.rank = peers ? peers->rank() : 0;
  options.world = peers ? peers->world() : 1;
  options.packs = planned.packs;
  Loader training(job.dataset, job.tokenizer, options);
  std::unique_ptr<Loader> evaluation;
  if (job.eval_dataset) {
    options.shuffle = false;
    options.packs = planned.eval_packs;
    evaluation = std::make_unique<Loader>(*job.eval_dataset, job.tokenizer, options);
  }
  TrainingOptions settings = settings_of(request, job, peers);
  settings.ask = asker(request, job, *model.value());
  Watching watching(invocation.out, view, facts_of(planned, request, options.world),
                    request.training.logging_steps, request.quiet || !is_first);
  const Result<std::unique_ptr<TensorboardLog>> curves = curves_for(request, is_first, watching);
  if (!curves) return fail(curves.error());
  TrainingObserver* observer = &watching;
  if (curves.value() != nullptr) observer = curves.value().get();
  const Result<TrainingResult> trained = train(*model.value(), training, evaluation.get(), settings,
                                               *observer, [] { return stop_signal != 0; });
  watching.finish();
  if (!trained) return fail(trained.error());
  const StopReason reason = trained.value().reason;
  if (!is_first) return exit_code_of(reason);
  if (reason == StopReason::finished || reason == StopReason::early) {
    const Result<std::filesystem::path> saved =
        save_result(request, job.config, *model.value(), trained.value());
    if (!saved) return fail(saved.error());
    invocation.out.print(fmt::format("Result: {}\n", saved.value().string()));
  }
  say_end({.request = request,
           .planned = planned,
           .model = *model.value(),
           .trained = trained.value(),
           .skipped = training.skipped(),
           .self = watching.self(),
           .ahead_bytes = batches_ahead().most_bytes,
           .runtime_bytes = runtime_bytes},
          view, invocation.out);
  return exit_code_of(reason);
}

int run_train(const Invocation& invocation) {
  const Result<TrainRequest> request = train_request_of(invocation.arguments);
  if (!request) return complain(invocation, request.error().message);
  const auto there = check_device(request.value().sizing.model.device);
  if (!there) return complain(invocation, there.error().message);
  const auto objection = objection_to_output(request.value());
  if (objection) return complain(invocation, *objection);
  map_large_blocks();
  const int64_t threads = use_threads(request.value().threads);
  const Result<Job> job = open_job(request.value().sizing);
  if (!job) return complain(invocation, job.error().message);
  if (request.value().stage == Stage::all) {
    catch_signals();
    const auto checked = check_datasets(request.value(), job.value(), invocation.out,
                                        [] { return stop_signal != 0; });
    if (!checked) return complain(invocation, checked.error().message);
    if (stop_signal != 0) return kSignalExit + static_cast<int>(stop_signal);
  }
  if (request.value().sizing.model.trained == Trained::everything) {
    const auto fits = check_can_be_trained(request.value().sizing.model_directory);
    if (!fits) return complain(invocation, fits.error().message);
  }
  const Result<Planned> planned = plan_job(job.value(), request.value().sizing, threads);
  if (!planned) return complain(invocation, planned.error().message);
  const View view = choose_view(look_around(), "auto", std::nullopt);
  say_start(invocation, request.value(), planned.value(), view);
  if (request.value().stage != Stage::all) {
    return run_stage(invocation, request.value(), job.value(), planned.value(), view);
  }
  return train_job(invocation, request.value(), job.value(), planned.value(), view);
}

}  // namespace

Verb train_command() {
  Verb verb = train_verb();
  verb.run = run_train;
  return verb;
}

}  // namespace plateau::train
