// SPDX-License-Identifier: Apache-2.0
#include "command/verb.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "command/time_limit.h"

namespace plateau {

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
