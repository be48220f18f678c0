// SPDX-License-Identifier: Apache-2.0
// One generator a shell. Each walks the same table; what differs is how a shell is told that an
// option has values, and how a text is quoted for it.
#include <fmt/format.h>

#include "cli/completion.h"

namespace plateau {
namespace {

constexpr std::string_view kHeader =
    "# Completions of plateau, printed by 'plateau completion'; do not edit.\n";

std::vector<std::string> verb_names(std::span<const Verb> verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  return names;
}

std::string spaced(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// A single-quoted word; a quote inside ends the string, stands escaped, and starts it again.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The first sentence or clause of a help text: menus have one line.
std::string brief(std::string_view help) {
  const size_t end = std::min(help.find_first_of(".;:("), help.size());
  std::string_view text = help.substr(0, end);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

// What zsh's _arguments must not see bare inside a specification.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::vector<std::string> words_after(const Verb& verb, std::span<const Verb> verbs) {
  return verb.name == "help" ? verb_names(verbs) : verb.positional.choices;
}

// Bash: what offers these words, or files; `otherwise` where neither is wanted.
std::string bash_offer(const std::vector<std::string>& words, Takes takes, std::string otherwise) {
  if (!words.empty()) {
    return fmt::format("mapfile -t COMPREPLY < <(compgen -W {} -- \"$cur\")",
                       shell_quoted(spaced(words)));
  }
  if (takes != Takes::file) return otherwise;
  return "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")";
}

// Bash: what to offer after each option that takes a value.
std::string bash_values(const Verb& verb) {
  std::string out;
  for (const Option& option : verb.options) {
    if (!takes_next_word(option)) continue;
    std::string names = "--" + option.name;
    if (option.letter != 0) names += fmt::format("|-{}", option.letter);
    out += fmt::format("        {}) {}; return ;;\n", names,
                       bash_offer(option.choices, option.takes, "COMPREPLY=()"));
  }
  return out;
}

std::string bash_verb(const Verb& verb, std::span<const Verb> verbs) {
  std::vector<std::string> options = {"--help"};
  for (const Option& option : verb.options) options.push_back("--" + option.name);
  const bool takes_files =
      verb.positional.takes == Takes::file && !verb.positional.placeholder.empty();
  const std::string rest =
      bash_offer(words_after(verb, verbs), takes_files ? Takes::file : Takes::nothing, ":");
  const std::string values = bash_values(verb);
  std::string out = fmt::format("    {})\n", verb.name);
  if (!values.empty()) out += "      case $prev in\n" + values + "      esac\n";
  out += fmt::format(
      "      if [[ $cur == -* ]]; then\n"
      "        mapfile -t COMPREPLY < <(compgen -W {} -- \"$cur\")\n"
      "      else\n        {}\n      fi\n      ;;\n",
      shell_quoted(spaced(options)), rest);
  return out;
}

std::string zsh_action(Takes takes, const std::vector<std::string>& choices) {
  if (!choices.empty()) return fmt::format("({})", fmt::join(choices, " "));
  return takes == Takes::file ? "_files" : " ";
}

std::string zsh_option(const Option& option) {
  const std::string value =
      option.takes == Takes::nothing
          ? ""
          : fmt::format("{}:{}:{}", option.may_be_bare ? ":" : "", option.placeholder,
                        zsh_action(option.takes, option.choices));
  const std::string help = fmt::format("[{}]", zsh_text(brief(option.help)));
  const std::string_view equals = option.may_be_bare               ? "=-"
                                  : option.takes == Takes::nothing ? ""
                                                                   : "=";
  std::string out =
      "        " + shell_quoted(fmt::format("--{}{}{}{}", option.name, equals, help, value));
  if (option.letter != 0) {
    out += " \\\n        " + shell_quoted(fmt::format("-{}{}{}", option.letter, help, value));
  }
  return out + " \\\n";
}

std::string zsh_verb(const Verb& verb, std::span<const Verb> verbs) {
  std::string out = fmt::format("      {})\n        _arguments \\\n", verb.name);
  for (const Option& option : verb.options) out += "  " + zsh_option(option);
  out += "          '(-h --help)'{-h,--help}'[explain the verb]'";
  const Positional& positional = verb.positional;
  if (!positional.placeholder.empty()) {
    const std::vector<std::string> words = words_after(verb, verbs);
    out += " \\\n          " +
           shell_quoted(fmt::format("{}:{}:{}", positional.many ? "*" : "1", positional.placeholder,
                                    zsh_action(positional.takes, words)));
  }
  return out + "\n        ;;\n";
}

std::string fish_option(const Verb& verb, const Option& option) {
  std::string out = fmt::format("complete -c plateau -n '__fish_seen_subcommand_from {}' -l {}",
                                verb.name, option.name);
  if (option.letter != 0) out += fmt::format(" -s {}", option.letter);
  // Fish takes "=value" of an option that is not said to have one.
  if (!takes_next_word(option)) return out + " -d " + shell_quoted(brief(option.help)) + "\n";
  if (option.takes == Takes::choice) {
    out += " -x -a " + shell_quoted(spaced(option.choices));
  } else if (option.takes == Takes::file) {
    out += " -r -F";
  } else {
    out += " -x";
  }
  return out + " -d " + shell_quoted(brief(option.help)) + "\n";
}

}  // namespace

std::string bash_completion(std::span<const Verb> verbs) {
  std::string out = std::string(kHeader);
  out += fmt::format(
      "_plateau() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  COMPREPLY=()\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W '{} --help --version' -- \"$cur\")\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      spaced(verb_names(verbs)));
  for (const Verb& verb : verbs) out += bash_verb(verb, verbs);
  return out + "  esac\n}\ncomplete -F _plateau plateau\n";
}

std::string zsh_completion(std::span<const Verb> verbs) {
  std::string out = "#compdef plateau\n" + std::string(kHeader);
  out += "_plateau() {\n  local curcontext=$curcontext state line\n  local -a verbs\n  verbs=(\n";
  for (const Verb& verb : verbs) {
    out += "    " + shell_quoted(fmt::format("{}:{}", verb.name, zsh_text(verb.summary))) + "\n";
  }
  out +=
      "  )\n"
      "  _arguments -C '(- *)'{-h,--help}'[explain plateau]' \\\n"
      "    '(- *)'{-V,--version}'[the version]' '1: :->verb' '*:: :->rest'\n"
      "  case $state in\n"
      "    verb) _describe -t verbs verb verbs ;;\n"
      "    rest) case $line[1] in\n";
  for (const Verb& verb : verbs) out += zsh_verb(verb, verbs);
  return out +
         "    esac ;;\n  esac\n}\n"
         "if [ \"$funcstack[1]\" = _plateau ]; then _plateau \"$@\"; else compdef _plateau "
         "plateau; fi\n";
}

std::string fish_completion(std::span<const Verb> verbs) {
  std::string out = std::string(kHeader) + "complete -c plateau -f\n";
  const std::string no_verb =
      fmt::format("'not __fish_seen_subcommand_from {}'", spaced(verb_names(verbs)));
  out += fmt::format("complete -c plateau -n {} -s h -l help -d 'explain plateau'\n", no_verb);
  out += fmt::format("complete -c plateau -n {} -s V -l version -d 'the version'\n", no_verb);
  for (const Verb& verb : verbs) {
    out += fmt::format("complete -c plateau -n {} -a {} -d {}\n", no_verb, verb.name,
                       shell_quoted(verb.summary));
    for (const Option& option : verb.options) out += fish_option(verb, option);
    const std::vector<std::string> words = words_after(verb, verbs);
    const std::string when = fmt::format("'__fish_seen_subcommand_from {}'", verb.name);
    if (!words.empty()) {
      out += fmt::format("complete -c plateau -n {} -a {}\n", when, shell_quoted(spaced(words)));
    } else if (verb.positional.takes == Takes::file && !verb.positional.placeholder.empty()) {
      out += fmt::format("complete -c plateau -n {} -F\n", when);
    }
  }
  return out;
}

}  // namespace plateau
