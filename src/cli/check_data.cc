// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>

#include "base/units.h"
#include "cli/check_data_words.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "cli/shared_options.h"
#include "cli/verbs.h"

namespace plateau {
namespace {

int64_t whole(const Arguments& arguments, std::string_view name, int64_t fallback) {
  return static_cast<int64_t>(
      std::min(arguments.number(name).value_or(static_cast<double>(fallback)), 1e6));
}

int run_check_data(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const std::string& path = arguments.positionals.front();
  SurveyOptions options;
  ModelShape shape;
  if (const std::optional<std::string> model = arguments.text("model")) {
    Result<ModelShape> read = read_model_shape(*model);
    if (!read) return trouble(invocation, read.error().message);
    shape = std::move(read.value());
    const Result<PixelLimits> limits = read_pixel_limits(*model, shape);
    if (!limits) return trouble(invocation, limits.error().message);
    options.shape = &shape;
    options.limits = limits.value();
  }
  options.pictures_directory = arguments.text("images").value_or("");
  options.reads_whole_pictures = !arguments.has("headers-only");
  options.max_length = whole(arguments, "max-length", 0);
  Progress progress(invocation.out, path);
  options.progress = [&](uint64_t done, uint64_t total) { progress.update(done, total); };
  const Result<Survey> survey = survey_dataset(path, options);
  if (!survey) return trouble(invocation, survey.error().message);
  const EpochOptions epoch = {.batch = whole(arguments, "batch", 1),
                              .accumulation = whole(arguments, "accumulation", 1),
                              .ranks = whole(arguments, "ranks", 1),
                              .max_length = options.max_length};
  if (arguments.has("json")) {
    invocation.out.print(survey_json(survey.value(), epoch));
  } else {
    const View view = view_of(arguments, STDOUT_FILENO);
    const std::string text = survey_text(survey.value(), epoch, options.shape, view);
    invocation.out.print(view.utf8 ? text : to_ascii(text));
  }
  return survey.value().is_clean() ? kExitFine : kExitLeak;
}

}  // namespace

Verb check_data_verb() {
  Verb verb;
  verb.name = "check-data";
  verb.summary = "check a dataset before training on it";
  verb.description = {
      "Reads every example and every picture, and reports missing files, pictures that are broken "
      "or cut off, \"<image>\" marks that do not match the pictures, answers that are empty or cut "
      "off by a maximum length, and duplicates. Shows how long examples are, what is learned from "
      "one, how much memory decoded pictures take, and how many steps an epoch has.",
      "Reads the forms that LLaMA-Factory, ms-swift, TRL, Unsloth and axolotl document: messages, "
      "conversations (ShareGPT), prompt and completion, alpaca, query and response, text; as JSON "
      "lines, a JSON list or CSV. Nothing is written, fetched or decoded. docs/check-data.md "
      "explains each line."};
  verb.positional = {
      .placeholder = "FILE", .help = "A dataset, or a directory of them.", .required = true};
  verb.options = together(
      {grouped(
           "The model",
           {option("model", Takes::file, "MODEL",
                   "A model's directory or config.json, to size pictures as its preprocessor does.",
                   'm'),
            option("max-length", Takes::count, "N",
                   "Maximum length in tokens: reports what would be cut off.")}),
       grouped(
           "The data",
           {option("images", Takes::file, "DIR",
                   "Directory that paths of pictures start from (default: the dataset's)."),
            flag("headers-only",
                 "Read only the headers of pictures: faster, but misses those that are cut off.")}),
       grouped(
           "The epoch",
           {option("batch", Takes::count, "N", "Examples per batch on each device (default 1)."),
            option("accumulation", Takes::count, "N", "Batches per optimizer step (default 1)."),
            option("ranks", Takes::count, "N", "Processes that train together (default 1).")}),
       grouped("Output", {flag("json", "Print one JSON object: docs/formats/check-data.md.")}),
       without("no-plot", without("quiet", look_options()))});
  verb.examples = {
      {"is this dataset sound?", "plateau check-data train.jsonl"},
      {"for this model, at this length",
       "plateau check-data train.jsonl -m ./Qwen2.5-VL-3B --max-length 4096"},
      {"how many steps?", "plateau check-data data/ --batch 2 --accumulation 8 --ranks 4"},
      {"in CI", "plateau check-data train.jsonl --json | jq '.problems'"}};
  verb.exits = {{"0", "nothing is wrong"},
                {"1", "problems were found"},
                {"2", "wrong usage, or nothing that can be read"}};
  verb.run = run_check_data;
  return verb;
}

}  // namespace plateau
