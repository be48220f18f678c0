// SPDX-License-Identifier: Apache-2.0
#include "cli/judge_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/input.h"
#include "cli/shared_options.h"

namespace plateau {
namespace {

constexpr const char* kMoment = "When";
constexpr const char* kAnswer = "Answer";

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
      {.name = "every", .group = kMoment, .help = "With --replay, print a line for every sample."},
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
       .help = "Print one JSON object per line for each run (with --replay, for each sample)."},
  };
}

}  // namespace

std::vector<Option> judge_options() {
  std::vector<Option> all = {format_option()};
  for (const auto& group :
       {context_options(), moment_options(), answer_options(), expect_options(), look_options()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  for (Option& option : all) {
    if (option.name == "quiet") option.help = "Print one line per file and nothing else.";
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
  request.policy = policy_of(arguments);
  const Result<Expectation> expected = expectation_of(arguments);
  if (!expected) return expected.error();
  request.expected = expected.value();
  request.replay = arguments.has("replay");
  request.every = arguments.has("every");
  request.explain = arguments.has("explain");
  request.json = arguments.has("json");
  request.quiet = arguments.has("quiet");
  request.view = view_of(arguments, STDOUT_FILENO);
  return request;
}

}  // namespace plateau
