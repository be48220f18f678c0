// SPDX-License-Identifier: Apache-2.0
// What has it learned? Answers to one question, or to those of a dataset, beside the right ones.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/json_writer.h"
#include "base/units.h"
#include "command/exit_code.h"
#include "report/text.h"
#include "trainer/cli/answers.h"
#include "trainer/cli/job.h"
#include "trainer/cli/result.h"
#include "trainer/cli/verbs.h"
#include "trainer/device/device_name.h"
#include "trainer/model/runtime.h"

namespace plateau::train {
namespace {

std::string spoken(const Question& question) {
  std::string out;
  for (const Part& part : question.messages.back().parts) out += part.text;
  return out;
}

Result<Sizing> sizing_for_asking(const Arguments& arguments) {
  Result<Sizing> sizing = sizing_of(arguments);
  if (!sizing) return sizing;
  for (const char* needed : {"base-model", "dataset"}) {
    if (!arguments.has(needed)) {
      return Error{.kind = Error::Kind::usage, .message = fmt::format("--{} is missing", needed)};
    }
  }
  sizing.value().model.trained = arguments.has("adapter") ? Trained::adapters : Trained::nothing;
  return sizing;
}

Result<std::unique_ptr<QwenVl>> model_for_asking(const Arguments& arguments, const Job& job,
                                                 const Sizing& sizing) {
  const std::optional<std::string> adapter = arguments.text("adapter");
  return adapter ? load_adapted_model(sizing.model_directory, job.config, sizing.model, *adapter)
                 : load_model(sizing.model_directory, job.config, sizing.model);
}

void show(const Invocation& invocation, const Question& question, const std::string& answer) {
  const bool is_right = score_answer(answer, question.expected).exact == 1;
  if (invocation.arguments.has("json")) {
    JsonWriter json;
    json.begin_object();
    json.key("question").value(spoken(question));
    json.key("answer").value(answer);
    json.key("expected").value(question.expected);
    json.key("right").value(is_right);
    json.end_object();
    invocation.out.print(json.take() + "\n");
    return;
  }
  invocation.out.print(fmt::format("{}\n  answer    {}\n  expected  {}{}\n",
                                   printable(spoken(question)), printable(answer),
                                   printable(question.expected), is_right ? "" : "   (differs)"));
}

// ", 12 of 24 JSON fields"; empty where no JSON is expected.
std::string fields_text(const AnswerScore& score) {
  if (score.json_expected == 0) return "";
  return fmt::format(", {} of {} JSON fields", format_count(score.fields_right),
                     format_count(score.fields));
}

int run_ask(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const auto fail = [&](const Error& error) { return complain(invocation, error.message); };
  Result<Sizing> sizing = sizing_for_asking(arguments);
  if (!sizing) return fail(sizing.error());
  if (const auto there = check_device(sizing.value().model.device); !there) {
    return fail(there.error());
  }
  use_threads(static_cast<int64_t>(arguments.number("threads").value_or(0)));
  const Result<Job> job = open_job(sizing.value());
  if (!job) return fail(job.error());
  Result<std::unique_ptr<QwenVl>> model = model_for_asking(arguments, job.value(), sizing.value());
  if (!model) return fail(model.error());
  const auto limit = static_cast<int64_t>(arguments.number("max-new-tokens").value_or(128));
  const Answerer answerer(job.value().tokenizer, job.value().loader.processor, *model.value(),
                          limit);
  const auto count = std::min(static_cast<size_t>(arguments.number("count").value_or(1e9)),
                              job.value().dataset.size());
  AnswerScore score;
  for (size_t i = 0; i < count && !invocation.out.closed(); ++i) {
    Result<Example> example = job.value().dataset.read(i);
    if (!example) return fail(example.error());
    const Question question = question_of(std::move(example.value()));
    const Result<std::string> answer = answerer.answer(question);
    if (!answer) return fail(answer.error());
    score += score_answer(answer.value(), question.expected);
    if (!arguments.has("quiet")) show(invocation, question, answer.value());
    invocation.out.flush();
  }
  invocation.out.remark(fmt::format("{} of {} answers are right{}\n", format_count(score.exact),
                                    format_count(score.asked), fields_text(score)));
  return kExitFine;
}

}  // namespace

Verb ask_command() {
  Verb verb;
  verb.name = "ask";
  verb.program = "plateau-train";
  verb.summary = "have a model answer the questions in a dataset";
  verb.description = {
      "Generates an answer to each example with greedy decoding and shows it next to the expected "
      "one. Model options are the same as for train."};
  const auto option = [](std::string name, char letter, Takes takes, std::string placeholder,
                         std::string help) {
    return Option{.name = std::move(name),
                  .letter = letter,
                  .takes = takes,
                  .placeholder = std::move(placeholder),
                  .group = "Options",
                  .help = std::move(help)};
  };
  verb.options = {
      option("base-model", 'm', Takes::file, "DIR", "Directory of the base model."),
      option("adapter", 'a', Takes::file, "DIR",
             "Directory of an adapter written by train (default: none)."),
      option("dataset", 'd', Takes::file, "FILE", "Examples to answer."),
      option("count", 0, Takes::count, "N", "Answer only the first N examples (default: all)."),
      option("max-new-tokens", 0, Takes::count, "N",
             "Longest answer to generate, in tokens (default 128)."),
      option("load-in-4bit", 0, Takes::nothing, "", "Keep the weights in 4-bit NF4 (default)."),
      option("load-in-16bit", 0, Takes::nothing, "", "Keep the weights in bf16."),
      option("load-in-32bit", 0, Takes::nothing, "", "Keep the weights in fp32."),
      Option{.name = "compute-dtype",
             .takes = Takes::choice,
             .placeholder = "fp32|bf16",
             .group = "Options",
             .help = "Compute products and activations in fp32 (default) or bf16.",
             .choices = {"fp32", "bf16"}},
      option("device", 0, Takes::text, "cpu|cuda|cuda:N",
             "Where weights and activations are (default cpu)."),
      option("min-pixels", 0, Takes::count, "N",
             "Upscale smaller images, as in training (default: as the model says, else 3136)."),
      option(
          "max-pixels", 0, Takes::count, "N",
          "Downscale larger images, as in training (default: as the model says, else 12845056)."),
      Option{
          .name = "chat-template",
          .takes = Takes::choice,
          .placeholder = "model|builtin",
          .group = "Options",
          .help = "Refuse a model with another chat template than Qwen2.5-VL's (default), or not.",
          .choices = {"model", "builtin"}},
      option("threads", 0, Takes::count, "N", "CPU threads LibTorch may use (default: all cores)."),
      option("quiet", 'q', Takes::nothing, "", "Print only how many answers are right."),
      option("json", 0, Takes::nothing, "", "Print one JSON object per line.")};
  verb.examples = {{"what was learned",
                    "plateau-train ask -m tiny/model -a tiny/out/adapter -d tiny/eval.jsonl"}};
  verb.run = run_ask;
  return verb;
}

}  // namespace plateau::train
