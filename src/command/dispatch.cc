// SPDX-License-Identifier: Apache-2.0
#include "command/dispatch.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/version.h"
#include "command/exit_code.h"
#include "command/help.h"
#include "command/parse.h"
#include "command/suggest.h"

namespace plateau {
namespace {

int unknown_verb(const Program& program, std::span<const Verb> verbs, const std::string& word,
                 Output& out) {
  if (word.size() > 1 && word.front() == '-') {
    const std::vector<std::string> known = {"--help", "--version"};
    out.complain("", fmt::format("unknown option '{}'{}; try '{} --help'", word,
                                 did_you_mean(word, known), program.name));
    return kExitTrouble;
  }
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  std::string hint = did_you_mean(word, names);
  // The commonest slip is to leave the verb out.
  if (program.name == "plateau" && access(word.c_str(), F_OK) == 0)
    hint = fmt::format(" (did you mean 'plateau judge {}'?)", word);
  out.complain("", fmt::format("unknown verb '{}'{}; try '{} --help'", word, hint, program.name));
  return kExitTrouble;
}

int run_verb(const Verb& verb, std::span<const Verb> verbs, std::span<const std::string> words,
             Output& out) {
  const Result<Arguments> parsed = verb.passes_on ? Arguments() : parse_arguments(verb, words);
  const Arguments none;
  const Invocation invocation = {.verb = verb,
                                 .verbs = verbs,
                                 .arguments = parsed ? parsed.value() : none,
                                 .out = out,
                                 .words = words};
  if (!parsed) return misused(invocation, parsed.error());
  if (!parsed.value().has("help")) return verb.run(invocation);
  out.print(verb_help(verb));
  return kExitFine;
}

int choose(const Program& program, std::span<const Verb> verbs, std::span<const std::string> words,
           Output& out) {
  if (words.empty()) {
    out.complain("", fmt::format("no verb given; try '{} --help'", program.name));
    return kExitTrouble;
  }
  const std::string& word = words.front();
  if (word == "--help" || word == "-h") {
    out.print(overview_help(program, verbs));
    return kExitFine;
  }
  if (word == "--version" || word == "-V") {
    out.print(fmt::format("{} {}\n", program.name, version()));
    return kExitFine;
  }
  for (const Verb& verb : verbs) {
    if (verb.name == word) return run_verb(verb, verbs, words.subspan(1), out);
  }
  return unknown_verb(program, verbs, word, out);
}

}  // namespace

int dispatch(const Program& program, std::span<const Verb> verbs,
             std::span<const std::string> words, Output& out) {
  return out.finish(choose(program, verbs, words, out));
}

}  // namespace plateau
