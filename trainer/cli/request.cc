// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "trainer/device/device_name.h"
#include "trainer/loop/checkpoint.h"
#include "trainer/store/weight_names.h"

namespace plateau::train {
namespace {

Error usage(std::string message) {
  return {.kind = Error::Kind::usage, .message = std::move(message)};
}

int64_t whole(const Arguments& arguments, std::string_view option, int64_t otherwise) {
  const std::optional<double> given = arguments.number(option);
  return given ? static_cast<int64_t>(*given) : otherwise;
}

double real(const Arguments& arguments, std::string_view option, double otherwise) {
  return arguments.number(option).value_or(otherwise);
}

bool yes(const Arguments& arguments, std::string_view option, bool otherwise) {
  const std::optional<std::string> given = arguments.text(option);
  return given ? *given == "true" : otherwise;
}

Result<BaseStorage> storage_of(const Arguments& arguments) {
  const bool four = arguments.has("load-in-4bit");
  const bool sixteen = arguments.has("load-in-16bit") || arguments.has("quality-mode");
  const bool thirty_two = arguments.has("load-in-32bit");
  if (four + sixteen + thirty_two > 1) {
    return usage(
        "--load-in-4bit, --load-in-16bit (also by --quality-mode) and --load-in-32bit exclude each "
        "other");
  }
  if (arguments.has("full-finetuning")) {
    if (four || sixteen) {
      return usage(
          "--full-finetuning trains weights in fp32: not with --load-in-4bit, --load-in-16bit or "
          "--quality-mode");
    }
    return BaseStorage::fp32;
  }
  return thirty_two ? BaseStorage::fp32 : sixteen ? BaseStorage::bf16 : BaseStorage::nf4;
}

// "q_proj, v_proj", in hub names.
std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const std::string_view name = trim(list.substr(0, list.find(',')));
    if (!name.empty()) out.push_back(hub_name(name));
    list.remove_prefix(std::min(list.find(','), list.size() - 1) + 1);
  }
  return out;
}

LoraOptions lora_of(const Arguments& arguments) {
  LoraOptions lora;
  lora.rank = whole(arguments, "lora-r", lora.rank);
  lora.alpha = real(arguments, "lora-alpha", lora.alpha);
  lora.dropout = real(arguments, "lora-dropout", lora.dropout);
  lora.rslora = arguments.has("use-rslora") || (arguments.has("quality-mode") && lora.rank >= 32);
  lora.dora = arguments.has("use-dora");
  lora.vision = yes(arguments, "finetune-vision-layers", true);
  lora.language = yes(arguments, "finetune-language-layers", true);
  lora.attention = yes(arguments, "finetune-attention-modules", true);
  lora.mlp = yes(arguments, "finetune-mlp-modules", true);
  lora.targets = names_in(arguments.text("target-modules").value_or(""));
  lora.seed = static_cast<uint64_t>(whole(arguments, "seed", 42));
  return lora;
}

// What is wrong with the adapters' options; empty: nothing.
std::string idle_adapter_option(const Arguments& arguments) {
  if (arguments.has("use-dora") && arguments.number("lora-dropout").value_or(0) > 0) {
    return "--use-dora goes without --lora-dropout";
  }
  if (!arguments.has("full-finetuning")) return "";
  for (const char* idle :
       {"lora-r", "lora-alpha", "lora-dropout", "use-rslora", "use-dora", "target-modules",
        "finetune-attention-modules", "finetune-mlp-modules"}) {
    if (arguments.has(idle)) {
      return fmt::format("--{} is for adapters: not with --full-finetuning", idle);
    }
  }
  if (arguments.text("save-method") == "lora") {
    return "--save-method lora is for adapters: not with --full-finetuning";
  }
  return "";
}

LossLevel loss_level_of(const Arguments& arguments) {
  if (!arguments.has("selective-loss") && !arguments.has("selective-loss-level")) {
    return LossLevel::all;
  }
  const std::string level = arguments.text("selective-loss-level").value_or("structure");
  if (level == "keys") return LossLevel::keys;
  if (level == "literals") return LossLevel::literals;
  if (level == "compat") return LossLevel::compat;
  return LossLevel::structure;
}

LoaderOptions loader_of(const Arguments& arguments) {
  LoaderOptions loader;
  loader.batch_size = whole(arguments, "batch-size", 1);
  loader.max_seq_length = whole(arguments, "max-seq-length", loader.max_seq_length);
  loader.workers = whole(arguments, "dataloader-num-workers", 0);
  loader.loss = loss_level_of(arguments);
  loader.seed = static_cast<uint64_t>(whole(arguments, "seed", 42));
  loader.skip_bad = arguments.has("skip-bad");
  return loader;
}

ScheduleKind schedule_of(const Arguments& arguments) {
  const std::string name = arguments.text("lr-scheduler-type").value_or("cosine");
  if (name == "linear") return ScheduleKind::linear;
  if (name == "constant") return ScheduleKind::constant;
  if (name == "constant_with_warmup") return ScheduleKind::constant_with_warmup;
  if (name == "polynomial") return ScheduleKind::polynomial;
  return ScheduleKind::cosine;
}

EvalStrategy eval_strategy_of(const Arguments& arguments) {
  const std::string name = arguments.text("eval-strategy").value_or("steps");
  if (name == "no") return EvalStrategy::none;
  return name == "epoch" ? EvalStrategy::epoch : EvalStrategy::steps;
}

Stage stage_of(const Arguments& arguments) {
  const std::string name = arguments.text("only").value_or("");
  if (name == "data") return Stage::data;
  if (name == "collate") return Stage::collate;
  if (name == "forward") return Stage::forward;
  if (name == "backward") return Stage::backward;
  return Stage::all;
}

OptimizerOptions optimizer_of(const Arguments& arguments, OptimizerKind kind) {
  OptimizerOptions out;
  out.kind = kind;
  out.learning_rate = real(arguments, "learning-rate", out.learning_rate);
  out.beta1 = real(arguments, "adam-beta1", out.beta1);
  out.beta2 = real(arguments, "adam-beta2", out.beta2);
  out.epsilon = real(arguments, "adam-epsilon", out.epsilon);
  out.weight_decay = real(arguments, "weight-decay", out.weight_decay);
  out.max_grad_norm = real(arguments, "max-grad-norm", out.max_grad_norm);
  return out;
}

TrainingOptions training_of(const Arguments& arguments, const Sizing& sizing) {
  TrainingOptions out;
  out.output_directory = *arguments.text("output-dir");
  out.epochs = real(arguments, "epochs", out.epochs);
  out.max_steps = whole(arguments, "max-steps", -1);
  out.accumulate = sizing.accumulate;
  out.per_batch_mean = arguments.text("loss-mean").value_or("tokens") == "batches";
  out.optimizer = optimizer_of(arguments, sizing.optimizer);
  out.schedule = schedule_of(arguments);
  out.warmup_steps = whole(arguments, "warmup-steps", out.warmup_steps);
  out.warmup_ratio = arguments.number("warmup-ratio");
  out.logging_steps = whole(arguments, "logging-steps", out.logging_steps);
  out.save_steps = whole(arguments, "save-steps", out.save_steps);
  out.save_total_limit = whole(arguments, "save-total-limit", out.save_total_limit);
  out.eval_strategy = eval_strategy_of(arguments);
  out.eval_steps = whole(arguments, "eval-steps", 0);
  out.early_stopping_patience = whole(arguments, "early-stopping-patience", 0);
  out.seed = static_cast<uint64_t>(whole(arguments, "seed", 42));
  out.accepts_changed_data = arguments.has("accept-changed-data");
  out.cleanup_every = whole(arguments, "cleanup-every", 0);
  if (const std::optional<double> limit_mb = arguments.memory_mb("memory-limit")) {
    out.memory_limit_bytes = static_cast<int64_t>(*limit_mb * kBytesPerMb);
  }
  return out;
}

}  // namespace

Result<Sizing> sizing_of(const Arguments& arguments) {
  Sizing out;
  out.model_directory = arguments.text("base-model").value_or("");
  out.dataset = arguments.text("dataset").value_or("");
  out.eval_dataset = arguments.text("eval-dataset").value_or("");
  const Result<BaseStorage> storage = storage_of(arguments);
  if (!storage) return storage.error();
  out.model.storage = storage.value();
  out.model.device = arguments.text("device").value_or(out.model.device);
  if (const auto named = device_name_of(out.model.device); !named) return named.error();
  if (arguments.text("compute-dtype") == "bf16") out.model.compute = ComputeType::bf16;
  out.model.lora = lora_of(arguments);
  if (arguments.has("full-finetuning")) out.model.trained = Trained::everything;
  if (const std::string idle = idle_adapter_option(arguments); !idle.empty()) return usage(idle);
  out.model.gradient_checkpointing = yes(arguments, "use-gradient-checkpointing", true);
  if (!(out.model.lora.vision || out.model.lora.language) ||
      !(out.model.lora.attention || out.model.lora.mlp)) {
    return usage("nothing is left to train: the --finetune options switch every adapter off");
  }
  out.loader = loader_of(arguments);
  if (arguments.has("min-pixels")) out.pixels.least = whole(arguments, "min-pixels", 0);
  if (arguments.has("max-pixels")) out.pixels.most = whole(arguments, "max-pixels", 0);
  out.loader.processor.min_pixels = out.pixels.least.value_or(out.loader.processor.min_pixels);
  out.loader.processor.max_pixels = out.pixels.most.value_or(out.loader.processor.max_pixels);
  out.checks_template = arguments.text("chat-template").value_or("model") == "model";
  out.dataset_options = {.text_field = arguments.text("text-field").value_or("text"),
                         .image_field = arguments.text("image-field").value_or("image"),
                         .keep_decoded = arguments.has("keep-decoded")};
  const std::string optimizer = arguments.text("optim").value_or(
      arguments.has("quality-mode") ? "adamw_torch" : "adamw_8bit");
  out.optimizer = optimizer == "adamw_torch" ? OptimizerKind::adamw : OptimizerKind::adamw_8bit;
  out.accumulate = whole(arguments, "gradient-accumulation-steps", 8);
  out.packs = arguments.has("packing");
  out.eval_answers = whole(arguments, "eval-generate", 0);
  out.max_new_tokens = whole(arguments, "max-new-tokens", out.max_new_tokens);
  if (arguments.has("eval-generate") && out.eval_dataset.empty()) {
    return usage("--eval-generate needs an --eval-dataset");
  }
  return out;
}

Result<TrainRequest> train_request_of(const Arguments& arguments) {
  for (const char* needed : {"base-model", "dataset", "output-dir"}) {
    if (!arguments.has(needed)) return usage(fmt::format("--{} is missing", needed));
  }
  Result<Sizing> sizing = sizing_of(arguments);
  if (!sizing) return sizing.error();
  if (arguments.has("eval-steps") && eval_strategy_of(arguments) != EvalStrategy::steps) {
    return usage("--eval-steps goes with --eval-strategy steps only");
  }
  if (sizing.value().eval_dataset.empty() && arguments.text("eval-strategy") != "no") {
    for (const char* idle : {"eval-steps", "eval-strategy", "early-stopping-patience"}) {
      if (arguments.has(idle)) return usage(fmt::format("--{} needs an --eval-dataset", idle));
    }
  }
  if (arguments.has("warmup-ratio") && arguments.has("warmup-steps")) {
    return usage("--warmup-steps and --warmup-ratio exclude each other");
  }
  TrainRequest out;
  out.training = training_of(arguments, sizing.value());
  out.sizing = std::move(sizing.value());
  out.is_merged = arguments.text("save-method").value_or("merged_16bit") == "merged_16bit";
  out.stage = stage_of(arguments);
  const std::string depth = arguments.text("data-check").value_or("full");
  out.data_check = depth == "none"      ? DataCheckDepth::none
                   : depth == "headers" ? DataCheckDepth::headers
                                        : DataCheckDepth::full;
  out.threads = whole(arguments, "threads", 0);
  out.quiet = arguments.has("quiet");
  if (arguments.has("tensorboard")) {
    const std::string given = arguments.text("tensorboard").value_or("");
    out.tensorboard = given.empty() ? out.training.output_directory / "tensorboard"
                                    : std::filesystem::path(given);
  }
  if (!arguments.has("resume")) return out;
  out.resumes = true;
  const std::string given = arguments.text("resume").value_or("");
  if (!given.empty()) {
    out.training.resume_from = given;
    return out;
  }
  const auto found = list_checkpoints(out.training.output_directory);
  if (found.empty()) {
    return usage(
        fmt::format("--resume: no checkpoint in {}", out.training.output_directory.string()));
  }
  out.training.resume_from = found.back();
  return out;
}

}  // namespace plateau::train
