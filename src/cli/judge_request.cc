// SPDX-License-Identifier: Apache-2.0
#include "cli/judge_request.h"

#include <fmt/format.h>

#include "cli/input.h"
#include "cli/screen.h"

namespace plateau {
namespace {

constexpr const char* kContext = "What you know about the job (wins over what the log says)";
constexpr const char* kMoment = "When";
constexpr const char* kAnswer = "Answer";
constexpr const char* kLooks = "Looks";

std::optional<Fact> fact(const std::optional<double>& value, std::string_view source) {
  if (!value) return std::nullopt;
  return Fact{*value, std::string(source)};
}

std::optional<Word> word_from_name(std::string_view name) {
  for (const Word word : {Word::plateau, Word::warming, Word::leak, Word::undecided}) {
    if (word_name(word) == name) return word;
  }
  return std::nullopt;
}

std::vector<Option> moment_options() {
  return {
      {.name = "until-step",
       .takes = Takes::index,
       .placeholder = "N",
       .group = kMoment,
       .help = "Judge only what was known at step N."},
      {.name = "until-time",
       .takes = Takes::text,
       .placeholder = "T",
       .group = kMoment,
       .help = "Judge only what was known at T: 600 or 10m or 1h30m after the start, 13:18:25 on "
               "the log's clock, or 2025-11-08T13:18:25."},
      {.name = "replay",
       .group = kMoment,
       .help = "Show when the answer changed, and from which step on it was known."},
      {.name = "every", .group = kMoment, .help = "With --replay, a line for every sample."},
  };
}

std::vector<Option> answer_options() {
  return {
      {.name = "explain",
       .group = kAnswer,
       .help = "Show every explanation that competed, its weight, and what speaks for and against "
               "it."},
      {.name = "json",
       .group = kAnswer,
       .help = "One JSON object a line for each run (with --replay, for each sample)."},
      {.name = "expect",
       .takes = Takes::choice,
       .placeholder = "WORD",
       .group = kAnswer,
       .help = "Fail unless the answer is WORD (plateau, warming, leak, undecided), for CI: exit 0 "
               "if it is, 1 if it is another word, 3 if undecided.",
       .choices = {"plateau", "warming", "leak", "undecided"}},
      {.name = "strict",
       .group = kAnswer,
       .help =
           "Call a leak only at a twentieth of the usual false-alarm rate (0.1 % instead of 2 %)."},
  };
}

}  // namespace

std::vector<Option> context_options() {
  return {
      {.name = "examples",
       .takes = Takes::count,
       .placeholder = "N",
       .group = kContext,
       .help = "Examples in the training set."},
      {.name = "batch",
       .takes = Takes::count,
       .placeholder = "N",
       .group = kContext,
       .help = "Examples per optimizer step, over all devices and accumulation."},
      {.name = "epoch-steps",
       .takes = Takes::count,
       .placeholder = "N",
       .group = kContext,
       .help = "Optimizer steps in one pass over the data, if you know it directly."},
      {.name = "total-steps",
       .takes = Takes::count,
       .placeholder = "N",
       .group = kContext,
       .help = "Steps the job will run; the risk is about reaching the limit before then."},
      {.name = "limit",
       .takes = Takes::memory,
       .placeholder = "SIZE",
       .group = kContext,
       .help = "Memory limit of the machine or container: 20GB, 64GiB; a bare number is MB."},
  };
}

std::vector<Option> look_options() {
  return {
      {.name = "quiet",
       .letter = 'q',
       .group = kLooks,
       .help = "One line a file and nothing else."},
      {.name = "no-plot", .group = kLooks, .help = "Leave the plot out."},
      {.name = "color",
       .takes = Takes::choice,
       .placeholder = "WHEN",
       .group = kLooks,
       .help = "When to colour: auto (default; follows NO_COLOR, CLICOLOR_FORCE and the terminal), "
               "always, never.",
       .choices = {"auto", "always", "never"}},
      {.name = "width",
       .takes = Takes::count,
       .placeholder = "N",
       .group = kLooks,
       .help = "Columns to draw in; default the terminal's, or 80."},
  };
}

Context given_facts(const Arguments& arguments) {
  Context given;
  given.examples = fact(arguments.number("examples"), "--examples");
  given.batch = fact(arguments.number("batch"), "--batch");
  given.epoch_steps = fact(arguments.number("epoch-steps"), "--epoch-steps");
  given.total_steps = fact(arguments.number("total-steps"), "--total-steps");
  given.limit_mb = fact(arguments.memory_mb("limit"), "--limit");
  return given;
}

View view_asked_for(const Arguments& arguments) {
  const std::optional<double> width = arguments.number("width");
  View view = choose_view(look_around(), arguments.text("color").value_or("auto"),
                          width ? std::optional(static_cast<size_t>(*width)) : std::nullopt);
  view.plot = !arguments.has("no-plot");
  return view;
}

std::vector<Option> judge_options() {
  std::vector<Option> all = {format_option()};
  for (const auto& group :
       {context_options(), moment_options(), answer_options(), look_options()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

Result<JudgeRequest> judge_request(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  JudgeRequest request;
  const Result<std::vector<std::string>> files = files_of(invocation);
  if (!files) return files.error();
  request.files = files.value();
  request.given = given_facts(arguments);
  request.until.step = arguments.number("until-step");
  if (const std::optional<std::string> time = arguments.text("until-time")) {
    request.until.time = parse_time_limit(*time);
    if (!request.until.time) {
      return Error{Error::Kind::usage,
                   fmt::format("--until-time takes 10m, 13:18:25 or a date, not '{}'", *time)};
    }
  }
  if (arguments.has("every") && !arguments.has("replay")) {
    return Error{Error::Kind::usage, "--every goes with --replay"};
  }
  // One tenth of the default, for those who are woken up by it.
  if (arguments.has("strict")) request.policy.false_leak = 0.001;
  request.expected = word_from_name(arguments.text("expect").value_or(""));
  request.replay = arguments.has("replay");
  request.every = arguments.has("every");
  request.explain = arguments.has("explain");
  request.json = arguments.has("json");
  request.quiet = arguments.has("quiet");
  request.view = view_asked_for(arguments);
  return request;
}

void apply_facts(const Context& given, Context& context) {
  const bool counted = given.examples || given.batch;
  if (given.examples) context.examples = given.examples;
  if (given.batch) context.batch = given.batch;
  if (given.epoch_steps) {
    context.epoch_steps = given.epoch_steps;
  } else if (counted && context.examples && context.batch) {
    context.epoch_steps.reset();
  }
  if (given.total_steps) context.total_steps = given.total_steps;
  if (given.limit_mb) context.limit_mb = given.limit_mb;
}

}  // namespace plateau
