// SPDX-License-Identifier: Apache-2.0
// The only file that includes CLI11, which costs ten seconds to compile. CLI11 splits the words;
// what a value must look like, and every message, is ours.
#include "command/parse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <span>

#include "base/pid.h"
#include "base/text.h"
#include "base/units.h"
#include "command/suggest.h"
#include "command/time_limit.h"

namespace plateau {
namespace {

constexpr std::string_view kBare = "true";  // What CLI11 makes of "--flag" without "=value".

std::string names_for_cli11(const Option& option) {
  std::string names = "--" + option.name;
  if (option.letter != 0) names += fmt::format(",-{}", option.letter);
  return names;
}

bool whole_number(std::string_view text, double least) {
  const bool digits =
      !text.empty() && text.size() <= 18 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || c == ',' || c == '_';
      });
  const std::optional<double> value = digits ? parse_memory_mb(text, 1.0) : std::nullopt;
  return value && *value >= least;
}

// "" if `value` is what `takes` asks for; else what would be.
std::string wanted_instead(Takes takes, const std::vector<std::string>& choices,
                           const std::string& value) {
  switch (takes) {
    case Takes::nothing:
    case Takes::text:
    case Takes::file:
    case Takes::command:
      return value.empty() && takes != Takes::nothing ? "something" : "";
    case Takes::count:
      return whole_number(value, 1) ? "" : "a whole number of at least 1";
    case Takes::index:
      return whole_number(value, 0) ? "" : "a whole number";
    case Takes::real: {
      const std::optional<double> number = parse_double(value);
      return number && std::isfinite(*number) && *number >= 0 ? "" : "a number such as 3 or 2e-5";
    }
    case Takes::memory: {
      const std::optional<double> mb = parse_memory_mb(value);
      return mb && *mb > 0 ? "" : "an amount of memory such as 20GB or 512MiB";
    }
    case Takes::seconds: {
      const std::optional<TimeLimit> time = parse_time_limit(value);
      const bool length = time && time->kind == TimeLimit::Kind::elapsed && time->seconds > 0;
      return length ? "" : "a length of time such as 30s, 10m or 1h30m";
    }
    case Takes::pid:
      return parse_pid(value) ? "" : "a process id, a whole number";
    case Takes::choice:
      if (std::find(choices.begin(), choices.end(), value) != choices.end()) return "";
      return fmt::format("one of {}", fmt::join(choices, ", "));
  }
  return "";
}

Error unknown_option(const Verb& verb, std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  std::vector<std::string> known = {"--help"};
  for (const Option& option : verb.options) known.push_back("--" + option.name);
  return usage_error(fmt::format("unknown option '{}'{}", name, did_you_mean(name, known)));
}

// The dividing flag that the word is, if any.
const Option* divider_named(const Verb& verb, std::string_view word) {
  for (const Option& option : verb.options) {
    if (option.divides && word == "--" + option.name) return &option;
  }
  return nullptr;
}

// CLI11 leaves everything it does not know in order, with the "--" that ended the options. Dividing
// flags are left to this, because their place matters.
Result<std::vector<std::string>> positionals_of(const Verb& verb,
                                                const std::vector<std::string>& rest,
                                                Arguments& arguments) {
  std::vector<std::string> given;
  bool options_ended = false;
  for (const std::string& word : rest) {
    if (!options_ended && word == "--") {
      options_ended = true;
    } else if (const Option* divider = divider_named(verb, word); divider && !options_ended) {
      arguments.options[divider->name] = "";
      arguments.dividers.push_back(given.size());
    } else if (!options_ended && word.size() > 1 && word.front() == '-') {
      return unknown_option(verb, word);
    } else {
      given.push_back(word);
    }
  }
  const Positional& positional = verb.positional;
  if (positional.placeholder.empty() && !given.empty()) {
    return usage_error(fmt::format("unexpected argument '{}'", given.front()));
  }
  if (!positional.many && given.size() > positional.most) {
    return usage_error(fmt::format("unexpected argument '{}'", given[positional.most]));
  }
  if (positional.required && given.empty()) {
    return usage_error(fmt::format("{} is missing", positional.placeholder));
  }
  // A command's arguments are its own, empty ones too; only the program must be named.
  const size_t checked =
      positional.takes == Takes::command ? std::min<size_t>(given.size(), 1) : given.size();
  for (const std::string& word : std::span(given).first(checked)) {
    const std::string wanted = wanted_instead(positional.takes, positional.choices, word);
    if (wanted.empty()) continue;
    return usage_error(fmt::format("{} must be {}, not '{}'{}", positional.placeholder, wanted,
                                   word, did_you_mean(word, positional.choices)));
  }
  return given;
}

// Where a verb that takes a command ends its own options: at "--", or at the first word that is
// neither an option nor an option's value. The command's own options are not ours to read.
size_t command_start(const Verb& verb, std::span<const std::string> words) {
  size_t at = 0;
  while (at < words.size()) {
    const std::string& word = words[at];
    if (word == "--" || word.size() < 2 || word.front() != '-') return at;
    ++at;
    if (word.find('=') != std::string::npos) continue;
    for (const Option& option : verb.options) {
      const bool named = word == "--" + option.name ||
                         (option.letter != 0 && word == std::string{'-', option.letter});
      if (named && takes_next_word(option)) ++at;
    }
  }
  return words.size();
}

std::optional<Error> check_values(const Verb& verb, const Arguments& arguments) {
  for (const Option& option : verb.options) {
    const std::optional<std::string> value = arguments.text(option.name);
    if (!value || (option.may_be_bare && value->empty())) continue;
    const std::string wanted = wanted_instead(option.takes, option.choices, *value);
    if (wanted.empty()) continue;
    return usage_error(fmt::format("--{} takes {}, not '{}'{}", option.name, wanted, *value,
                                   did_you_mean(*value, option.choices)));
  }
  return std::nullopt;
}

}  // namespace

Result<Arguments> parse_arguments(const Verb& verb, std::span<const std::string> words) {
  std::span<const std::string> command;
  if (verb.positional.takes == Takes::command) {
    const size_t start = command_start(verb, words);
    command = words.subspan(start);
    words = words.first(start);
    if (!command.empty() && command.front() == "--") command = command.subspan(1);
  }
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  CLI::Option* help = app.add_flag("-h,--help");
  std::vector<CLI::Option*> made;
  for (const Option& option : verb.options) {
    if (option.divides) {
      made.push_back(nullptr);
      continue;
    }
    const std::string names = names_for_cli11(option);
    made.push_back(takes_next_word(option) ? app.add_option(names) : app.add_flag(names));
    made.back()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (takes_next_word(option)) made.back()->expected(1);
  }
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch& mismatch) {
    const std::string what = mismatch.what();
    return usage_error(fmt::format("{} needs a value", what.substr(0, what.find_first_of(": "))));
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }

  Arguments arguments;
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i] == nullptr || made[i]->count() == 0) continue;
    const Option& option = verb.options[i];
    const std::string result = made[i]->results().back();
    const bool bare = option.may_be_bare && result == kBare;
    const bool has_value = option.takes != Takes::nothing && !bare;
    arguments.options[option.name] = has_value ? result : "";
  }
  if (help->count() > 0) {
    arguments.options["help"] = "";
    return arguments;
  }
  std::vector<std::string> rest = app.remaining();
  if (!command.empty()) rest.emplace_back("--");
  rest.insert(rest.end(), command.begin(), command.end());
  Result<std::vector<std::string>> given = positionals_of(verb, rest, arguments);
  if (!given) return given.error();
  arguments.positionals = std::move(given.value());
  if (std::optional<Error> wrong = check_values(verb, arguments)) return *wrong;
  return arguments;
}

}  // namespace plateau
