// SPDX-License-Identifier: Apache-2.0
#include "cli/shared_options.h"

#include <fmt/format.h>

#include "command/screen.h"

namespace plateau {
namespace {

constexpr const char* kContext = "What you know about the job (wins over what the log says)";
constexpr const char* kLooks = "Looks";
constexpr const char* kExpect = "As a test";

std::optional<Word> word_from_name(std::string_view name) {
  for (const Word word : {Word::plateau, Word::warming, Word::leak, Word::undecided}) {
    if (word_name(word) == name) return word;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Option> context_options() {
  std::vector<Option> options;
  options.reserve(kFacts.size());
  for (const FactKind& fact : kFacts) {
    options.push_back({.name = fact.spelled('-'),
                       .takes = fact.is_memory() ? Takes::memory : Takes::count,
                       .placeholder = fact.is_memory() ? "SIZE" : "N",
                       .group = kContext,
                       .help = std::string(fact.help)});
  }
  return options;
}

std::vector<Option> expect_options() {
  return {
      {.name = "expect",
       .takes = Takes::choice,
       .placeholder = "WORD",
       .group = kExpect,
       .help = "Fail unless the answer is WORD (plateau, warming, leak, undecided), for CI: exit 0 "
               "if it is, 1 if it is another word, 3 if undecided.",
       .choices = {"plateau", "warming", "leak", "undecided"}},
      {.name = "settle-by",
       .takes = Takes::index,
       .placeholder = "N",
       .group = kExpect,
       .help = "With --expect plateau: fail unless memory is level from step N on, or earlier."},
      {.name = "spread",
       .takes = Takes::memory,
       .placeholder = "SIZE",
       .group = kExpect,
       .help = "With --expect plateau: fail if memory, spikes aside, varies by more than SIZE from "
               "there on."},
      {.name = "strict",
       .group = kExpect,
       .help =
           "Call a leak only at a twentieth of the usual false-alarm rate (0.1 % instead of 2 %)."},
  };
}

std::vector<Option> look_options() {
  return {
      {.name = "quiet", .letter = 'q', .group = kLooks, .help = "Print one line and nothing else."},
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
       .help = "Width of the output in columns (default: the terminal's, or 80)."},
  };
}

Context given_facts(const Arguments& arguments) {
  Context given;
  for (const FactKind& fact : kFacts) {
    const std::string option = fact.spelled('-');
    const auto value = fact.is_memory() ? arguments.memory_mb(option) : arguments.number(option);
    if (value) given.*fact.field = Fact{*value, "--" + option};
  }
  return given;
}

Policy policy_of(const Arguments& arguments) {
  Policy policy;
  if (arguments.has("strict")) policy.false_leak = 0.001;
  return policy;
}

Result<Expectation> expectation_of(const Arguments& arguments) {
  Expectation expected;
  expected.word = word_from_name(arguments.text("expect").value_or(""));
  expected.settle_by = arguments.number("settle-by");
  expected.spread_mb = arguments.memory_mb("spread");
  if ((expected.settle_by || expected.spread_mb) && expected.word != Word::plateau) {
    return Error{Error::Kind::usage, "--settle-by and --spread go with --expect plateau"};
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
