// SPDX-License-Identifier: Apache-2.0
// The options are named as in Model Garden's train-vision where it has them, with its defaults.
#include "trainer/cli/train_options.h"

#include <fmt/format.h>

namespace plateau::train {
namespace {

using Options = std::vector<Option>;

void add(Options& all, Options more) {
  all.insert(all.end(), more.begin(), more.end());
}

Option text(std::string name, std::string placeholder, std::string group, std::string help) {
  return {.name = std::move(name),
          .takes = Takes::text,
          .placeholder = std::move(placeholder),
          .group = std::move(group),
          .help = std::move(help)};
}
Option file(std::string name, char letter, std::string placeholder, std::string group,
            std::string help) {
  return {.name = std::move(name),
          .letter = letter,
          .takes = Takes::file,
          .placeholder = std::move(placeholder),
          .group = std::move(group),
          .help = std::move(help)};
}
Option number(std::string name, Takes takes, std::string group, std::string help) {
  return {.name = std::move(name),
          .takes = takes,
          .placeholder = takes == Takes::memory ? "SIZE" : "N",
          .group = std::move(group),
          .help = std::move(help)};
}
Option choice(std::string name, std::vector<std::string> choices, std::string group,
              std::string help) {
  std::string placeholder = fmt::format("{}", fmt::join(choices, "|"));
  return {.name = std::move(name),
          .takes = Takes::choice,
          .placeholder = std::move(placeholder),
          .group = std::move(group),
          .help = std::move(help),
          .choices = std::move(choices)};
}
Option flag(std::string name, std::string group, std::string help) {
  return {.name = std::move(name), .group = std::move(group), .help = std::move(help)};
}
Option with_letter(Option option, char letter) {
  option.letter = letter;
  return option;
}

const std::vector<std::string> kYesNo = {"true", "false"};

// What of the model is trained.
Options trained_options() {
  return {
      flag("full-finetuning", "Model",
           "Train the weights themselves, in fp32, instead of adapters; --finetune-vision-layers "
           "false or --finetune-language-layers false freezes one tower."),
      flag("use-dora", "Model",
           "Train DoRA adapters: directions by LoRA, and the length of every row of a weight."),
      number("lora-r", Takes::count, "Model", "Rank of the LoRA adapters (default 16)."),
      choice("finetune-vision-layers", kYesNo, "Model",
             "Put adapters in the vision tower (default true)."),
      choice("finetune-language-layers", kYesNo, "Model",
             "Put adapters in the language decoder (default true)."),
      choice("finetune-attention-modules", kYesNo, "Model",
             "Put adapters in the attention modules (default true)."),
      choice("finetune-mlp-modules", kYesNo, "Model", "Put adapters in the MLPs (default true)."),
      text("target-modules", "NAMES", "Model",
           "Put adapters only in modules whose names end in one of these, comma-separated: "
           "q_proj,v_proj (default: every linear layer that the options above choose)."),
  };
}

// What decides how much memory a run takes: for both verbs.
Options sizing_options() {
  Options all = {
      file("base-model", 'm', "DIR", "Model",
           "Model directory, with config.json, tokenizer.json and *.safetensors."),
      file("dataset", 'd', "FILE", "Data",
           "Training examples: one JSON object per line, or a JSON array."),
      file("eval-dataset", 0, "FILE", "Data",
           "Examples to evaluate on, in the same format (default: no evaluation)."),
      number("eval-generate", Takes::count, "Data",
             "At each evaluation, generate answers to the first N questions of --eval-dataset and "
             "count how many are right, word for word and by JSON field (default: none)."),
      number("max-new-tokens", Takes::count, "Data",
             "Longest answer that --eval-generate generates, in tokens (default 128)."),
      with_letter(number("batch-size", Takes::count, "Steps",
                         "Examples per forward pass; with --packing, rows (default 1)."),
                  'b'),
      number("gradient-accumulation-steps", Takes::count, "Steps",
             "Batches per optimizer step (default 8)."),
      number("max-seq-length", Takes::count, "Data",
             "Longest example allowed, in tokens (default 2048); a longer one is an error, never "
             "truncated."),
      flag("packing", "Data",
           "Fill each row of a batch with several whole examples, up to --max-seq-length tokens; "
           "examples do not see each other, and the loss is the same as without packing."),
      number("min-pixels", Takes::count, "Data",
             "Upscale images with fewer pixels than this (default: as the model's "
             "preprocessor_config.json says, else 3136)."),
      number("max-pixels", Takes::count, "Data",
             "Downscale images with more pixels than this (default: as the model's "
             "preprocessor_config.json says, else 12845056)."),
      number("dataloader-num-workers", Takes::index, "Data",
             "Number of threads that prepare batches in the background (default 0: none)."),
      number("threads", Takes::count, "Steps",
             "CPU threads LibTorch may use (default: all cores)."),
      flag("load-in-4bit", "Model", "Keep the frozen weights in 4-bit NF4 (default)."),
      flag("load-in-16bit", "Model", "Keep the frozen weights in bf16."),
      flag("load-in-32bit", "Model",
           "Keep the frozen weights in fp32; weights that are fp32 on disk are memory-mapped."),
      choice("compute-dtype", {"fp32", "bf16"}, "Model",
             "Compute products and activations in fp32 (default), or in bf16, which takes half the "
             "memory and, on a CPU with bf16 instructions, less time; adapters, gradients and "
             "optimizer stay in fp32."),
      text("device", "cpu|cuda|cuda:N", "Model",
           "Device for weights, activations and optimizer (default cpu). cuda needs a PyTorch with "
           "CUDA."),
      choice("use-gradient-checkpointing", kYesNo, "Model",
             "Store only each layer's input and recompute the layer in the backward pass (default "
             "true)."),
      choice("optim", {"adamw_8bit", "adamw_torch"}, "Steps",
             "Optimizer: AdamW with 8-bit (default) or 32-bit states."),
      flag("quality-mode", "Model",
           "Prefer quality to memory: bf16 weights, 32-bit optimizer states, and rsLoRA from rank "
           "32."),
  };
  add(all, trained_options());
  return all;
}

Options learning_options() {
  return {
      with_letter(number("epochs", Takes::real, "Steps",
                         "Passes over the data; fractions are allowed (default 3)."),
                  'e'),
      number("max-steps", Takes::count, "Steps",
             "Stop after N optimizer steps, whatever --epochs says (default: no cap)."),
      number("learning-rate", Takes::real, "Steps", "Peak learning rate (default 2e-5)."),
      choice("lr-scheduler-type",
             {"linear", "cosine", "constant", "constant_with_warmup", "polynomial"}, "Steps",
             "Learning-rate schedule after warm-up (default cosine)."),
      number("warmup-steps", Takes::index, "Steps",
             "Steps over which the learning rate ramps up from zero (default 10)."),
      number("warmup-ratio", Takes::real, "Steps",
             "Warm up over this share of all steps, 0 to 1, instead of --warmup-steps (default: "
             "none)."),
      number("weight-decay", Takes::real, "Steps",
             "Weight decay, applied to matrices only (default 0.01)."),
      number("max-grad-norm", Takes::real, "Steps",
             "Clip the gradient norm to this value (default 1.0)."),
      number("adam-beta1", Takes::real, "Steps",
             "Adam's decay rate for the running mean of gradients (default 0.9)."),
      number("adam-beta2", Takes::real, "Steps",
             "Adam's decay rate for the running mean of squared gradients (default 0.999)."),
      number("adam-epsilon", Takes::real, "Steps",
             "Term that keeps Adam from dividing by zero (default 1e-8)."),
      choice("loss-mean", {"tokens", "batches"}, "Steps",
             "Average a step's loss over its labelled tokens (default), or over its batches."),
      number("seed", Takes::index, "Steps",
             "Random seed for data order, adapter initialisation and dropout (default 42)."),
      number("lora-alpha", Takes::real, "Model",
             "LoRA alpha: adapters are scaled by N / rank (default 16)."),
      number("lora-dropout", Takes::real, "Model",
             "Dropout probability on the adapters' input (default 0)."),
      flag("use-rslora", "Model",
           "Use rank-stabilised LoRA: scale adapters by --lora-alpha / sqrt(rank)."),
  };
}

Options example_options() {
  return {
      text("text-field", "NAME", "Data",
           "Key that holds the prompt in examples of the simple form (default text)."),
      text("image-field", "NAME", "Data",
           "Key that holds the image in examples of the simple form (default image)."),
      choice(
          "data-check", {"full", "headers", "none"}, "Data",
          "Before step 1, look at every example of both datasets: decode its pictures (default), "
          "read only their headers, or skip the check. The result is remembered until the data "
          "changes."),
      choice(
          "chat-template", {"model", "builtin"}, "Data",
          "Refuse a model whose own chat template gives other texts than Qwen2.5-VL's (default), "
          "or train with Qwen2.5-VL's template in any case."),
      flag("skip-bad", "Data", "Skip and count bad examples instead of failing on the first one."),
      flag("selective-loss", "Data",
           "Compute the loss on the values in a JSON answer, not on its structure."),
      choice(
          "selective-loss-level", {"structure", "keys", "literals", "compat"}, "Data",
          "What selective loss masks: structure (default: brackets, quotes, commas), keys as well, "
          "literals (true, false, null) as well, or the same tokens as Model Garden (compat)."),
      flag("keep-decoded", "Data",
           "Keep every decoded image in memory, to reproduce growth over the first epoch."),
  };
}

Options output_options() {
  return {
      file("output-dir", 'o', "DIR", "Output",
           "Where checkpoints, log.jsonl and the final result are written."),
      number("logging-steps", Takes::count, "Output",
             "Print a line every N steps where there is no terminal, and log to "
             "trainer_state.json (default 10); log.jsonl has every step."),
      {.name = "tensorboard",
       .takes = Takes::text,
       .placeholder = "DIR",
       .group = "Output",
       .help = "Write loss, learning rate, gradient norm, tokens and memory of every step as a "
               "TensorBoard event file into DIR (bare: OUTPUT-DIR/tensorboard; default: none).",
       .may_be_bare = true},
      number("save-steps", Takes::count, "Output",
             "Save a checkpoint every N steps (default 100)."),
      number("save-total-limit", Takes::count, "Output",
             "Keep only the last N checkpoints (default 3)."),
      choice("save-method", {"merged_16bit", "lora"}, "Output",
             "Write the result as full weights with the adapter merged in (default), or as the "
             "adapter alone. With --full-finetuning the result is always the whole model."),
      choice(
          "eval-strategy", {"no", "steps", "epoch"}, "Output",
          "When to evaluate on --eval-dataset: never, every --eval-steps (default), or after each "
          "epoch."),
      number("eval-steps", Takes::count, "Output",
             "Evaluate every N steps (default: the value of --save-steps)."),
      number("early-stopping-patience", Takes::count, "Output",
             "Stop after N evaluations in a row without improvement (default: never)."),
      {.name = "resume",
       .takes = Takes::text,
       .placeholder = "CHECKPOINT",
       .group = "Output",
       .help = "Resume from the latest checkpoint in --output-dir, or from CHECKPOINT.",
       .may_be_bare = true},
      flag("accept-changed-data", "Output",
           "Let --resume continue with a dataset that differs from the checkpoint's, for example "
           "because it was repaired or extended."),
      number("memory-limit", Takes::memory, "Memory",
             "Save a checkpoint and stop when RSS exceeds SIZE (default: no limit)."),
      number("cleanup-every", Takes::count, "Memory",
             "Return free memory to the kernel every N steps, to see what that gains and costs "
             "(default: never)."),
      choice("only", {"data", "collate", "forward", "backward"}, "Memory",
             "Run the pipeline only up to this stage, without training, to find the stage that "
             "grows."),
      with_letter(
          flag("quiet", "Output", "Print only errors and the result: no memory plan, no progress."),
          'q'),
  };
}

}  // namespace

Verb train_verb() {
  Verb verb;
  verb.name = "train";
  verb.summary =
      "fine-tune a Qwen2.5-VL model (LoRA, DoRA or all weights), with its memory planned before "
      "step 1";
  verb.description = {
      "Trains LoRA adapters on images and conversations. Before step 1 it prints a memory plan, "
      "line by line; while it runs, each line is measured; at the end plan and measurement are "
      "shown side by side, with plateau's verdict on the run. Memory does not depend on how many "
      "examples have been seen.",
      "Set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT to train with several processes. On "
      "SIGTERM it saves a checkpoint and stops; --resume continues from it bit for bit.",
      "'plateau-train init --preset tiny' writes a small model and dataset to try this on."};
  verb.options = sizing_options();
  add(verb.options, learning_options());
  add(verb.options, example_options());
  add(verb.options, output_options());
  verb.examples = {
      {"a small model and dataset to try it on",
       "plateau-train init --preset tiny -o tiny && plateau train -m tiny/model -d "
       "tiny/train.jsonl --eval-dataset tiny/eval.jsonl -o out"},
      {"resume after an interruption",
       "plateau train -m tiny/model -d tiny/train.jsonl -o out --resume"},
      {"watched from outside, with call stacks",
       "plateau run --heap -- plateau train -m tiny/model -d tiny/train.jsonl -o out"}};
  verb.exits = {{"0", "trained"},
                {"2", "bad options, bad data, a non-finite loss, or a full disk"},
                {"10", "stopped early: evaluation loss no longer improved"},
                {"30", "stopped above --memory-limit, after a checkpoint"},
                {"143", "stopped by SIGTERM (130: by SIGINT), after a checkpoint"}};
  return verb;
}

Verb plan_verb() {
  Verb verb;
  verb.name = "plan";
  verb.summary = "predict the memory of a training run, line by line, before it starts";
  verb.description = {
      "Prints the host RAM that 'plateau train' would need with the same options: weights, "
      "adapters, gradients, optimizer states, activations, logits, images, prefetch and runtime; "
      "then the peak, the minimum and recommended RAM and, with --limit, what to change to fit.",
      "With --preset no weights are needed. With --dataset, sequence lengths and image sizes are "
      "read from it; otherwise --tokens and --pixels describe an example."};
  verb.options = {choice("preset", {"qwen2.5-vl-3b", "qwen2.5-vl-7b", "tiny", "small"}, "Model",
                         "Plan for a published model instead of --base-model.")};
  add(verb.options, sizing_options());
  add(verb.options,
      {number("tokens", Takes::count, "Data",
              "Tokens per example, instead of --dataset (default: --max-seq-length)."),
       number("labelled", Takes::count, "Data",
              "How many of those tokens are labelled (default 256)."),
       number("pixels", Takes::index, "Data", "Image pixels per example (default 1003520)."),
       number("limit", Takes::memory, "Output",
              "Check the plan against SIZE and say what to change to fit."),
       flag("json", "Output", "Print the plan as one JSON object.")});
  verb.examples = {
      {"a published model, no files needed",
       "plateau plan --preset qwen2.5-vl-7b --tokens 2048 --batch-size 2 --limit 16GB"},
      {"this dataset on this model", "plateau plan -m model -d train.jsonl --max-seq-length 4096"}};
  verb.exits = {
      {"0", "it fits, or no --limit was given"}, {"1", "it does not fit"}, {"2", "bad input"}};
  return verb;
}

}  // namespace plateau::train
