// SPDX-License-Identifier: Apache-2.0
#include "command/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/text.h"

namespace plateau {
namespace {

constexpr size_t kWidth = 80;  // As wide as a terminal is by default.
constexpr size_t kTitleColumn = 2;
constexpr size_t kHelpColumn = 28;
constexpr size_t kVerbColumn = 14;  // Of the list of verbs, whose names are short.

// A title on the left and its text wrapped on the right; a long title gets a line of its own.
std::string entry(std::string_view title, std::string_view text, size_t column = kHelpColumn) {
  std::string out = std::string(kTitleColumn, ' ') + std::string(title);
  const size_t used = kTitleColumn + display_width(title);
  bool on_title_line = used + 2 <= column;
  if (!on_title_line) out += '\n';
  for (const std::string& line : wrap(text, kWidth - column)) {
    out += std::string(on_title_line ? column - used : column, ' ') + line + "\n";
    on_title_line = false;
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

// The verbs by wish; those of no group under a heading of their own.
std::string verb_list(const Program& program, std::span<const Verb> verbs) {
  std::string out;
  std::vector<std::string> shown;
  for (const VerbGroup& group : program.groups) {
    std::string rows;
    for (const std::string& name : group.verbs) {
      const auto verb = std::ranges::find(verbs, name, &Verb::name);
      if (verb == verbs.end()) continue;
      rows += entry(verb->name, verb->summary, kVerbColumn);
      shown.push_back(name);
    }
    if (!rows.empty()) out += fmt::format("\n{}:\n{}", group.wish, rows);
  }
  std::string rest;
  for (const Verb& verb : verbs) {
    if (std::ranges::find(shown, verb.name) == shown.end()) {
      rest += entry(verb.name, verb.summary, kVerbColumn);
    }
  }
  if (!rest.empty()) out += fmt::format("\n{}:\n{}", shown.empty() ? "Verbs" : "More", rest);
  return out;
}

}  // namespace

std::string overview_help(const Program& program, std::span<const Verb> verbs) {
  std::string out = wrapped(program.name + " - " + program.tagline, kWidth);
  out += fmt::format("\nUsage: {} VERB [OPTIONS] [FILE...]\n", program.name);
  out += verb_list(program, verbs);
  out += "\nOptions:\n";
  out += entry("-h, --help", fmt::format("this text; '{} VERB --help' for a verb", program.name));
  out += entry("-V, --version", "the version");
  return out + "\n" + program.way_in + exit_codes(program.exits);
}

std::string verb_help(const Verb& verb) {
  std::string out =
      wrapped(fmt::format("{} {} - {}", verb.program, verb.name, verb.summary), kWidth);
  out += fmt::format("\nUsage: {}\n", usage_line(verb));
  for (const std::string& text : verb.description) out += "\n" + wrapped(text, kWidth);
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

}  // namespace plateau
