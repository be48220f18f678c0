// SPDX-License-Identifier: Apache-2.0
#include "cli/judge_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/ci_files.h"
#include "cli/input.h"
#include "cli/shared_options.h"

namespace plateau {
namespace {

Options moment_options() {
  return grouped(
      "When",
      {option("until-step", Takes::index, "N", "Judge only the samples up to step N."),
       option("until-time", Takes::text, "T",
              "Judge only the samples up to T: 600, 10m or 1h30m after the start, 13:18:25 on "
              "the log's clock, or 2025-11-08T13:18:25."),
       flag("replay", "Show when the answer changed, and from which step on it was known."),
       flag("every", "With --replay, print a line for every sample.")});
}

Options reading_options() {
  return grouped(
      "Input",
      {flag("how-read", "Before the answer, print to standard error how FILE was read."),
       flag("remember",
            "Store --memory, --clock, --series and --unit for FILE in a .plateau.toml beside it, "
            "to be used next time."),
       flag("follow",
            "Keep judging as the log grows, and report when the verdict changes; rotated files "
            "are followed. Ends with Ctrl-C, or when standard input ends.",
            'f')});
}

Options answer_options() {
  return grouped(
      "Answer",
      {flag("explain",
            "Show every explanation that competed, its weight, and what speaks for and against "
            "it."),
       flag("json",
            "Print one JSON object per line for each run (with --replay, for each sample).")});
}

}  // namespace

Options judge_options() {
  return together({input_options(), reading_options(), context_options(), moment_options(),
                   answer_options(), expect_options(), ci_options(),
                   look_options("Print one line per file and nothing else.")});
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
      return usage_error(
          fmt::format("--until-time takes 10m, 13:18:25 or a date, not '{}'", *time));
    }
  }
  if (arguments.has("every") && !arguments.has("replay")) {
    return usage_error("--every goes with --replay");
  }
  request.policy = policy_of(arguments);
  const Result<Expectation> expected = expectation_of(arguments);
  if (!expected) return expected.error();
  request.expected = expected.value();
  if (arguments.has("remember")) {
    const Result<ReadingWishes> wishes = wishes_of(arguments);
    if (!wishes) return wishes.error();
    if (!wishes.value().any() || request.files.size() != 1) {
      return usage_error(
          "--remember keeps what --memory, --clock, --series or --unit say of one FILE");
    }
    request.remember = true;
  }
  if (request.given.rank && request.files.size() > 1) {
    return usage_error("--rank goes with one FILE");
  }
  request.follow = arguments.has("follow");
  if (request.follow && request.files.size() != 1) return usage_error("--follow takes one FILE");
  request.how_read = arguments.has("how-read");
  request.replay = arguments.has("replay");
  request.every = arguments.has("every");
  request.explain = arguments.has("explain");
  request.json = arguments.has("json");
  request.quiet = arguments.has("quiet");
  request.view = view_of(arguments, STDOUT_FILENO);
  return request;
}

}  // namespace plateau
