// SPDX-License-Identifier: Apache-2.0
#include "cli/dispatch.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/suggest.h"

namespace plateau {
namespace {

int unknown_verb(std::span<const Verb> verbs, const std::string& word, Output& out) {
  if (word.size() > 1 && word.front() == '-') {
    const std::vector<std::string> known = {"--help", "--version"};
    out.complain("", fmt::format("unknown option '{}'{}; try 'plateau --help'", word,
                                 did_you_mean(word, known)));
    return kExitTrouble;
  }
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  std::string hint = did_you_mean(word, names);
  // The commonest slip is to leave the verb out.
  if (access(word.c_str(), F_OK) == 0)
    hint = fmt::format(" (did you mean 'plateau judge {}'?)", word);
  out.complain("", fmt::format("unknown verb '{}'{}; try 'plateau --help'", word, hint));
  return kExitTrouble;
}

int run_verb(const Verb& verb, std::span<const Verb> verbs, std::span<const std::string> words,
             Output& out) {
  const Result<Arguments> arguments = parse_arguments(verb, words);
  if (!arguments) {
    out.complain(verb.name,
                 fmt::format("{}; try 'plateau {} --help'", arguments.error().message, verb.name));
    return kExitTrouble;
  }
  if (arguments.value().has("help")) {
    out.print(verb_help(verb));
    return kExitFine;
  }
  return verb.run({.verb = verb, .verbs = verbs, .arguments = arguments.value(), .out = out});
}

int choose(std::span<const Verb> verbs, std::span<const std::string> words, Output& out) {
  if (words.empty()) {
    out.complain("", "no verb given; try 'plateau --help'");
    return kExitTrouble;
  }
  const std::string& word = words.front();
  if (word == "--help" || word == "-h") {
    out.print(overview_help(verbs));
    return kExitFine;
  }
  if (word == "--version" || word == "-V") {
    out.print("plateau " PLATEAU_VERSION "\n");
    return kExitFine;
  }
  for (const Verb& verb : verbs) {
    if (verb.name == word) return run_verb(verb, verbs, words.subspan(1), out);
  }
  return unknown_verb(verbs, word, out);
}

}  // namespace

int dispatch(std::span<const Verb> verbs, std::span<const std::string> words, Output& out) {
  return out.finish(choose(verbs, words, out));
}

}  // namespace plateau
