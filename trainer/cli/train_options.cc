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

// What decides how much memory a run takes: for both verbs.
Options sizing_options() {
  return {
      file("base-model", 'm', "DIR", "Model",
           "Model directory: config.json, tokenizer.json, *.safetensors."),
      file("dataset", 'd', "FILE", "Data",
           "Training examples: one JSON object a line, or a JSON array."),
      file("eval-dataset", 0, "FILE", "Data", "Examples for evaluation."),
      with_letter(number("batch-size", Takes::count, "Steps", "Examples at a time (1)."), 'b'),
      number("gradient-accumulation-steps", Takes::count, "Steps", "Batches a step (8)."),
      number("max-seq-length", Takes::count, "Data",
             "Tokens of the longest example that is allowed (2048); none is cut."),
      number("min-pixels", Takes::count, "Data", "Smaller pictures are enlarged to it (3136)."),
      number("max-pixels", Takes::count, "Data", "Larger pictures are reduced to it (12845056)."),
      number("dataloader-num-workers", Takes::index, "Data", "Threads that prepare batches (0)."),
      flag("load-in-4bit", "Model", "Keep the frozen weights as NF4: the default."),
      flag("load-in-16bit", "Model", "Keep them as bf16."),
      flag("load-in-32bit", "Model", "Keep them as fp32: mapped from the files where they are."),
      number("lora-r", Takes::count, "Model", "Rank of the adapters (16)."),
      choice("finetune-vision-layers", kYesNo, "Model", "Adapters in the vision tower (true)."),
      choice("finetune-language-layers", kYesNo, "Model", "Adapters in the decoder (true)."),
      choice("finetune-attention-modules", kYesNo, "Model", "Adapters in attention (true)."),
      choice("finetune-mlp-modules", kYesNo, "Model", "Adapters in the MLPs (true)."),
      choice("use-gradient-checkpointing", kYesNo, "Model",
             "Keep a layer's input and run it again on the way back (true)."),
      choice("optim", {"adamw_8bit", "adamw_torch"}, "Steps",
             "Optimizer states in 8 bits (default) or 32."),
      flag("quality-mode", "Model", "bf16 weights, 32-bit states, rsLoRA from rank 32 on."),
  };
}

Options training_options() {
  return {
      with_letter(number("epochs", Takes::real, "Steps", "Passes over the data (3)."), 'e'),
      number("max-steps", Takes::count, "Steps", "Stop after N steps, whatever --epochs says."),
      number("learning-rate", Takes::real, "Steps", "Of the optimizer (2e-5)."),
      choice("lr-scheduler-type",
             {"linear", "cosine", "constant", "constant_with_warmup", "polynomial"}, "Steps",
             "How it falls (cosine)."),
      number("warmup-steps", Takes::index, "Steps", "Steps in which it rises (10)."),
      number("weight-decay", Takes::real, "Steps", "Of matrices (0.01)."),
      number("max-grad-norm", Takes::real, "Steps", "Gradients are scaled down to it (1.0)."),
      number("adam-beta1", Takes::real, "Steps", "(0.9)"),
      number("adam-beta2", Takes::real, "Steps", "(0.999)"),
      number("adam-epsilon", Takes::real, "Steps", "(1e-8)"),
      choice("loss-mean", {"tokens", "batches"}, "Steps",
             "A step's loss is the mean over its labelled tokens (default), or over its batches."),
      number("seed", Takes::index, "Steps", "Of order, adapters and dropout (42)."),
      number("threads", Takes::count, "Steps", "Threads of LibTorch (all cores)."),
      number("lora-alpha", Takes::real, "Model", "Adapters are scaled by N / rank (16)."),
      number("lora-dropout", Takes::real, "Model", "(0)"),
      flag("use-rslora", "Model", "Scale by --lora-alpha / sqrt(rank) instead."),
      text("text-field", "NAME", "Data", "Of the simple form (text)."),
      text("image-field", "NAME", "Data", "Of the simple form (image)."),
      flag("skip-bad", "Data", "Leave bad examples out and count them, instead of failing."),
      flag("selective-loss", "Data", "Learn what stands in the JSON of an answer, not its shape."),
      choice("selective-loss-level", {"structure", "keys", "literals", "compat"}, "Data",
             "What is not learned: brackets and the like (default); keys too; true, false and null "
             "too; or as Model Garden chose."),
      flag("keep-decoded", "Data",
           "Keep every decoded picture: to watch memory grow for an epoch."),
      file("output-dir", 'o', "DIR", "Output", "Checkpoints, log.jsonl and the result."),
      number("logging-steps", Takes::count, "Output", "(10)"),
      number("save-steps", Takes::count, "Output", "A checkpoint every N steps (100)."),
      number("save-total-limit", Takes::count, "Output", "Checkpoints that are kept (3)."),
      choice("save-method", {"merged_16bit", "lora"}, "Output",
             "The result: merged into the weights (default), or the adapter alone."),
      choice(
          "eval-strategy", {"no", "steps", "epoch"}, "Output",
          "Evaluate on --eval-dataset: never, every --eval-steps (default), or with each epoch."),
      number("eval-steps", Takes::count, "Output", "Evaluate every N steps (as --save-steps)."),
      number("early-stopping-patience", Takes::count, "Output",
             "Stop after N evaluations without a better one."),
      {.name = "resume",
       .takes = Takes::text,
       .placeholder = "CHECKPOINT",
       .group = "Output",
       .help = "Go on from the last checkpoint in --output-dir, or from the one given.",
       .may_be_bare = true},
      number("memory-limit", Takes::memory, "Memory",
             "Write a checkpoint and stop when resident memory is above it."),
      number("cleanup-every", Takes::count, "Memory",
             "Return free memory every N steps: to see what it costs and brings."),
      choice("only", {"data", "collate", "forward", "backward"}, "Memory",
             "Run the stages up to this one alone, to find which one grows."),
      with_letter(flag("quiet", "Output", "Errors and the result alone: no plan, no progress."),
                  'q'),
  };
}

}  // namespace

Verb train_verb() {
  Verb verb;
  verb.name = "train";
  verb.summary = "fine-tune a Qwen2.5-VL model with LoRA, its memory planned before step 1";
  verb.description = {
      "Trains adapters on pictures and conversations. Before step 1 the memory of the run is "
      "printed line by line; while it runs each line is measured; at the end both stand side by "
      "side, with plateau's verdict on the run. Memory does not depend on how many examples were "
      "seen.",
      "Several processes train together when RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are "
      "set. SIGTERM leads to a checkpoint; --resume goes on from it to the bit.",
      "'plateau-train init --preset tiny' writes a small model and dataset to try it with."};
  verb.options = sizing_options();
  add(verb.options, training_options());
  verb.examples = {
      {"something to try it with",
       "plateau-train init --preset tiny -o tiny && plateau train -m tiny/model -d "
       "tiny/train.jsonl --eval-dataset tiny/eval.jsonl -o out"},
      {"go on after an interruption",
       "plateau train -m tiny/model -d tiny/train.jsonl -o out --resume"},
      {"watched from outside, with call stacks",
       "plateau run --heap -- plateau train -m tiny/model -d tiny/train.jsonl -o out"}};
  verb.exits = {{"0", "trained"},
                {"2", "bad options, bad data, a loss that is not finite, a full disk"},
                {"10", "stopped early: no better evaluation"},
                {"30", "stopped above --memory-limit, after a checkpoint"},
                {"143", "stopped by SIGTERM (130: by SIGINT), after a checkpoint"}};
  return verb;
}

Verb plan_verb() {
  Verb verb;
  verb.name = "plan";
  verb.summary = "predict the memory of a training run, line by line, before it starts";
  verb.description = {
      "Prints what a run of 'plateau train' with the same options would need: weights, adapters, "
      "gradients, optimizer, activations, logits, pictures, prefetch and runtime, its peak, the "
      "least and the recommended RAM, and with --limit what to change so that it fits.",
      "With --preset no weights are needed. With --dataset lengths and picture sizes are read from "
      "it; else --tokens and --pixels describe an example."};
  verb.options = {choice("preset", {"qwen2.5-vl-3b", "qwen2.5-vl-7b", "tiny", "small"}, "Model",
                         "A published model instead of --base-model.")};
  add(verb.options, sizing_options());
  add(verb.options,
      {number("tokens", Takes::count, "Data", "Tokens of an example, instead of --dataset."),
       number("labelled", Takes::count, "Data", "Labelled ones among them (256)."),
       number("pixels", Takes::index, "Data", "Pixels of its pictures (1003520)."),
       number("limit", Takes::memory, "Output", "Say what to change to fit into it."),
       flag("json", "Output", "One JSON object.")});
  verb.examples = {
      {"a published model, no files needed",
       "plateau plan --preset qwen2.5-vl-7b --tokens 2048 --batch-size 2 --limit 16GB"},
      {"this dataset on this model", "plateau plan -m model -d train.jsonl --max-seq-length 4096"}};
  verb.exits = {
      {"0", "it fits, or no --limit was given"}, {"1", "it does not fit"}, {"2", "bad input"}};
  return verb;
}

}  // namespace plateau::train
