// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/exit_code.h"
#include "cli/suggest.h"
#include "report/text.h"

namespace plateau {
namespace {

constexpr size_t kWidth = 80;  // As wide as a terminal is by default.
constexpr size_t kTitleColumn = 2;
constexpr size_t kHelpColumn = 28;

// A title on the left and its text wrapped on the right; a long title gets a line of its own.
std::string entry(std::string_view title, std::string_view text) {
  std::string out = std::string(kTitleColumn, ' ') + std::string(title);
  const size_t used = kTitleColumn + display_width(title);
  bool on_title_line = used + 2 <= kHelpColumn;
  if (!on_title_line) out += "\n";
  for (const std::string& line : wrap(text, kWidth - kHelpColumn)) {
    out += std::string(on_title_line ? kHelpColumn - used : kHelpColumn, ' ') + line + "\n";
    on_title_line = false;
  }
  return out;
}

std::string heading(std::string_view name, std::string_view summary) {
  std::string out;
  for (const std::string& line : wrap(fmt::format("{} - {}", name, summary), kWidth)) {
    out += line + "\n";
  }
  return out;
}

std::string paragraphs(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    out += "\n";
    for (const std::string& line : wrap(text, kWidth)) out += line + "\n";
  }
  return out;
}

std::string option_groups(const Verb& verb) {
  std::vector<std::string> groups;
  for (const Option& option : verb.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  std::string out;
  for (const std::string& group : groups) {
    out += fmt::format("\n{}:\n", group);
    for (const Option& option : verb.options) {
      if (option.group == group) out += entry(option_title(option), option.help);
    }
  }
  return out;
}

std::string exit_codes(const std::vector<ExitMeaning>& exits) {
  if (exits.empty()) return "";
  std::string out = "\nExit code:\n";
  size_t width = 0;
  for (const ExitMeaning& exit : exits) width = std::max(width, exit.code.size());
  for (const ExitMeaning& exit : exits) {
    std::string_view code = exit.code;
    for (const std::string& line : wrap(exit.meaning, kWidth - width - 4)) {
      out += fmt::format("  {:<{}}  {}\n", std::exchange(code, ""), width, line);
    }
  }
  return out;
}

int run_help(const Invocation& invocation) {
  if (invocation.arguments.positionals.empty()) {
    invocation.out.print(overview_help(plateau_program(), invocation.verbs));
    return kExitFine;
  }
  const std::string& wanted = invocation.arguments.positionals.front();
  std::vector<std::string> names;
  for (const Verb& verb : invocation.verbs) {
    if (verb.name == wanted) {
      invocation.out.print(verb_help(verb));
      return kExitFine;
    }
    names.push_back(verb.name);
  }
  invocation.out.complain("help", fmt::format("no verb '{}'{}; try 'plateau help'", wanted,
                                              did_you_mean(wanted, names)));
  return kExitTrouble;
}

}  // namespace

std::string overview_help(const Program& program, std::span<const Verb> verbs) {
  std::string out = heading(program.name, program.tagline);
  out += fmt::format("\nUsage: {} VERB [OPTIONS] [FILE...]\n\nVerbs:\n", program.name);
  for (const Verb& verb : verbs) out += entry(verb.name, verb.summary);
  out += "\nOptions:\n";
  out += entry("-h, --help", fmt::format("this text; '{} VERB --help' for a verb", program.name));
  out += entry("-V, --version", "the version");
  return out + "\n" + program.way_in + exit_codes(program.exits);
}

Program plateau_program() {
  return {.tagline = std::string(kTagline),
          .way_in =
              "Start with a log that has steps and memory in it, or with the job:\n"
              "  plateau judge train.log\n  plateau run -- python train.py\n",
          .exits = verdict_exits()};
}

std::string verb_help(const Verb& verb) {
  std::string out = heading(verb.program + " " + verb.name, verb.summary);
  out += fmt::format("\nUsage: {}\n", usage_line(verb));
  out += paragraphs(verb.description);
  if (!verb.positional.placeholder.empty()) {
    out += "\nArguments:\n" + entry(verb.positional.placeholder, verb.positional.help);
  }
  out += option_groups(verb);
  if (!verb.examples.empty()) out += "\nExamples:\n";
  for (const Example& example : verb.examples) {
    out += fmt::format("  # {}\n  {}\n", example.purpose, example.command);
  }
  return out + exit_codes(verb.exits);
}

Verb help_verb() {
  Verb verb;
  verb.name = "help";
  verb.summary = "explain plateau or one of its verbs";
  verb.positional = {.placeholder = "VERB", .help = "The verb to explain.", .takes = Takes::text};
  verb.examples = {{"what there is", "plateau help"},
                   {"all options of judge", "plateau help judge"},
                   {"the same", "plateau judge --help"}};
  verb.run = run_help;
  return verb;
}

}  // namespace plateau
