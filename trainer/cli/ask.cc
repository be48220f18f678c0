// SPDX-License-Identifier: Apache-2.0
// What has it learned? Answers to one question, or to those of a dataset, beside the right ones.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/json_writer.h"
#include "base/units.h"
#include "command/exit_code.h"
#include "report/text.h"
#include "trainer/cli/job.h"
#include "trainer/cli/result.h"
#include "trainer/cli/verbs.h"
#include "trainer/model/runtime.h"

namespace plateau::train {
namespace {

struct Question {
  std::vector<Message> messages;  // Without the answer.
  std::vector<PictureSource> pictures;
  std::string expected;  // Empty: not known.
};

class Answerer {
 public:
  Answerer(const Job& job, QwenVl& model, int64_t limit)
      : job_(job), model_(model), limit_(limit) {}

  Result<std::string> answer(const Question& question) const {
    Batch batch;
    std::vector<int64_t> image_tokens;
    for (const PictureSource& source : question.pictures) {
      const Result<Picture> picture = decode_picture(source.bytes, source.name);
      if (!picture) return picture.error();
      const Result<Patches> patches =
          make_patches(picture.value(), job_.loader.processor, source.name);
      if (!patches) return patches.error();
      batch.patches.insert(batch.patches.end(), patches.value().values.begin(),
                           patches.value().values.end());
      batch.grids.push_back(patches.value().grid);
      image_tokens.push_back(patches.value().grid.tokens(job_.loader.processor.merge_size));
    }
    const Result<EncodedExample> encoded =
        encode_conversation(job_.tokenizer, question.messages, image_tokens, LossLevel::all, true);
    if (!encoded) return encoded.error();
    batch.rows = 1;
    batch.columns = static_cast<int64_t>(encoded.value().ids.size());
    batch.ids = encoded.value().ids;
    batch.labels.assign(batch.ids.size(), kNoLabel);
    batch.mask.assign(batch.ids.size(), 1);
    batch.tokens = batch.columns;
    const std::vector<int64_t> stop = {job_.config.eos_token};
    const Result<std::vector<int64_t>> ids = model_.generate(batch, limit_, stop);
    if (!ids) return ids.error();
    return job_.tokenizer.decode(ids.value(), true);
  }

 private:
  const Job& job_;
  QwenVl& model_;
  int64_t limit_;
};

// The conversation up to its last answer, and that answer.
Question question_of(Example example) {
  Question out{.messages = std::move(example.messages), .pictures = std::move(example.pictures)};
  while (!out.messages.empty() && out.messages.back().role == Message::Role::assistant) {
    out.expected.clear();
    for (const Part& part : out.messages.back().parts) out.expected += part.text;
    out.messages.pop_back();
  }
  return out;
}

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

struct Score {
  int64_t asked = 0;
  int64_t right = 0;
};

void show(const Invocation& invocation, const Question& question, const std::string& answer) {
  if (invocation.arguments.has("json")) {
    JsonWriter json;
    json.begin_object();
    json.key("question").value(spoken(question));
    json.key("answer").value(answer);
    json.key("expected").value(question.expected);
    json.key("right").value(answer == question.expected);
    json.end_object();
    invocation.out.print(json.take() + "\n");
    return;
  }
  invocation.out.print(fmt::format(
      "{}\n  answer    {}\n  expected  {}{}\n", printable(spoken(question)), printable(answer),
      printable(question.expected), answer == question.expected ? "" : "   (differs)"));
}

int run_ask(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const auto fail = [&](const Error& error) { return complain(invocation, error.message); };
  Result<Sizing> sizing = sizing_for_asking(arguments);
  if (!sizing) return fail(sizing.error());
  use_threads(static_cast<int64_t>(arguments.number("threads").value_or(0)));
  const Result<Job> job = open_job(sizing.value());
  if (!job) return fail(job.error());
  Result<std::unique_ptr<QwenVl>> model = model_for_asking(arguments, job.value(), sizing.value());
  if (!model) return fail(model.error());
  const auto limit = static_cast<int64_t>(arguments.number("max-new-tokens").value_or(128));
  const Answerer answerer(job.value(), *model.value(), limit);
  const auto count = std::min(static_cast<size_t>(arguments.number("count").value_or(1e9)),
                              job.value().dataset.size());
  Score score;
  for (size_t i = 0; i < count && !invocation.out.closed(); ++i) {
    Result<Example> example = job.value().dataset.read(i);
    if (!example) return fail(example.error());
    const Question question = question_of(std::move(example.value()));
    const Result<std::string> answer = answerer.answer(question);
    if (!answer) return fail(answer.error());
    ++score.asked;
    score.right += answer.value() == question.expected ? 1 : 0;
    if (!arguments.has("quiet")) show(invocation, question, answer.value());
    invocation.out.flush();
  }
  invocation.out.remark(fmt::format("{} of {} answers are right\n", format_count(score.right),
                                    format_count(score.asked)));
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
