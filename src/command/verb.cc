// SPDX-License-Identifier: Apache-2.0
#include "command/verb.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "command/exit_code.h"
#include "command/time_limit.h"

namespace plateau {

Option flag(std::string name, std::string help, char letter) {
  return {.name = std::move(name), .letter = letter, .help = std::move(help)};
}

Option option(std::string name, Takes takes, std::string placeholder, std::string help,
              char letter) {
  Option made = flag(std::move(name), std::move(help), letter);
  made.takes = takes;
  made.placeholder = std::move(placeholder);
  return made;
}

Option choice(std::string name, std::string placeholder, std::vector<std::string> choices,
              std::string help) {
  Option made = option(std::move(name), Takes::choice, std::move(placeholder), std::move(help));
  made.choices = std::move(choices);
  return made;
}

Option may_be_bare(Option option) {
  option.may_be_bare = true;
  return option;
}

Options grouped(const std::string& group, Options options) {
  for (Option& option : options) option.group = group;
  return options;
}

Options together(std::initializer_list<Options> tables) {
  Options all;
  for (const Options& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

Options without(std::string_view name, Options options) {
  std::erase_if(options, [name](const Option& option) { return option.name == name; });
  return options;
}

bool Arguments::has(std::string_view option) const {
  return options.find(option) != options.end();
}

std::optional<std::string> Arguments::text(std::string_view option) const {
  const auto found = options.find(option);
  if (found == options.end()) return std::nullopt;
  return found->second;
}

std::optional<double> Arguments::number(std::string_view option) const {
  const std::optional<std::string> given = text(option);
  if (!given) return std::nullopt;
  // The parser has checked it. "2e-5" is read as it is; in whole numbers thousands may be
  // separated, as people write them.
  const std::optional<double> plain = parse_double(*given);
  return plain ? plain : parse_memory_mb(*given, 1.0);
}

std::optional<double> Arguments::memory_mb(std::string_view option) const {
  const std::optional<std::string> given = text(option);
  if (!given) return std::nullopt;
  return parse_memory_mb(*given);
}

std::optional<double> Arguments::seconds(std::string_view option) const {
  const std::optional<std::string> given = text(option);
  if (!given) return std::nullopt;
  const std::optional<TimeLimit> time = parse_time_limit(*given);
  if (!time || time->kind != TimeLimit::Kind::elapsed) return std::nullopt;
  return time->seconds;
}

int trouble(const Invocation& invocation, std::string_view message) {
  invocation.out.complain(invocation.verb.name, message);
  return kExitTrouble;
}

int misused(const Invocation& invocation, const Error& error) {
  const Verb& verb = invocation.verb;
  return trouble(invocation,
                 fmt::format("{}; try '{} {} --help'", error.message, verb.program, verb.name));
}

std::string usage_line(const Verb& verb) {
  std::string line = verb.program + " " + verb.name;
  if (!verb.options.empty()) line += " [OPTIONS]";
  const Positional& positional = verb.positional;
  if (positional.placeholder.empty()) return line;
  if (positional.takes == Takes::command) return line + " -- " + positional.placeholder;
  const std::string name = positional.placeholder + (positional.many ? "..." : "");
  return fmt::format(fmt::runtime(positional.required ? "{} {}" : "{} [{}]"), line, name);
}

std::string option_title(const Option& option) {
  std::string title = option.letter != 0 ? fmt::format("-{}, ", option.letter) : "";
  title += "--" + option.name;
  if (option.may_be_bare) return fmt::format("{}[={}]", title, option.placeholder);
  if (!option.placeholder.empty()) title += " " + option.placeholder;
  return title;
}

bool takes_next_word(const Option& option) {
  return option.takes != Takes::nothing && !option.may_be_bare;
}

}  // namespace plateau
