// SPDX-License-Identifier: Apache-2.0
#include "cli/shared_options.h"

#include <fmt/format.h>

#include "command/screen.h"

namespace plateau {
namespace {

std::optional<Word> word_from_name(std::string_view name) {
  for (const Word word : {Word::plateau, Word::warming, Word::leak, Word::undecided}) {
    if (word_name(word) == name) return word;
  }
  return std::nullopt;
}

}  // namespace

Options recording_options() {
  return {flag("force", "Replace the recording if it exists (default: refuse)."),
          flag("no-redact",
               "Keep tokens and passwords of the command line in the recording (default: "
               "[redacted] replaces them).")};
}

void take_recording_options(const Arguments& arguments, SessionOptions& options) {
  options.replace_recording = arguments.has("force");
  options.keep_secrets = arguments.has("no-redact");
}

Options context_options() {
  Options options;
  for (const FactKind& fact : kFacts) {
    const Takes takes = fact.is_memory()     ? Takes::memory
                        : fact.is_name()     ? Takes::text
                        : fact.may_be_zero() ? Takes::index
                                             : Takes::count;
    const char* placeholder = fact.is_memory() ? "SIZE" : fact.is_name() ? "NAME" : "N";
    options.push_back(option(fact.spelled('-'), takes, placeholder, std::string(fact.help)));
  }
  return grouped("What you know about the job (overrides the log)", options);
}

Option strict_option() {
  return flag("strict", "Ask for 90 % instead of 80 % before saying leak, as judge does.");
}

Options expect_options() {
  return grouped(
      "As a test",
      {choice("expect", "WORD", {"plateau", "warming", "leak", "undecided"},
              "Fail unless the answer is WORD (plateau, warming, leak, undecided), for CI: exit "
              "code 0 if it is, 1 if it is another word, 3 if undecided."),
       option("settle-by", Takes::index, "N",
              "With --expect plateau: fail unless memory is level from step N on, or earlier."),
       option("spread", Takes::memory, "SIZE",
              "With --expect plateau: fail if memory varies by more than SIZE from there on, not "
              "counting spikes."),
       flag("strict", "Ask for 90 % instead of 80 % before saying leak.")});
}

Options look_options(const std::string& quiet) {
  return grouped(
      "Display",
      {flag("quiet", quiet, 'q'), flag("no-plot", "Do not draw the plot."),
       choice("color", "WHEN", {"auto", "always", "never"},
              "When to colour: auto (default; follows NO_COLOR, CLICOLOR_FORCE and the terminal), "
              "always, never."),
       option("width", Takes::count, "N",
              "Width of the output in columns (default: the terminal's, or 80).")});
}

Context given_facts(const Arguments& arguments) {
  Context given;
  for (const FactKind& fact : kFacts) {
    const std::string option = fact.spelled('-');
    if (fact.is_name()) {
      if (const auto text = arguments.text(option))
        given.*fact.field = Fact{0, "--" + option, *text};
      continue;
    }
    const auto value = fact.is_memory() ? arguments.memory_mb(option) : arguments.number(option);
    if (value) given.*fact.field = Fact{*value, "--" + option};
  }
  return given;
}

Policy policy_of(const Arguments& arguments) {
  Policy policy;
  if (arguments.has("strict")) policy.false_leak = 0.1;
  return policy;
}

Result<Expectation> expectation_of(const Arguments& arguments) {
  Expectation expected;
  expected.word = word_from_name(arguments.text("expect").value_or(""));
  expected.settle_by = arguments.number("settle-by");
  expected.spread_mb = arguments.memory_mb("spread");
  if ((expected.settle_by || expected.spread_mb) && expected.word != Word::plateau) {
    return usage_error("--settle-by and --spread go with --expect plateau");
  }
  return expected;
}

View view_of(const Arguments& arguments, int fd) {
  const std::optional<double> width = arguments.number("width");
  View view =
      choose_view(look_around(fd), arguments.text("color").value_or("auto"),
                  width ? std::optional<size_t>(static_cast<size_t>(*width)) : std::nullopt);
  view.plot = !arguments.has("no-plot");
  return view;
}

}  // namespace plateau
