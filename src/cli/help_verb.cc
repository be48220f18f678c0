// SPDX-License-Identifier: Apache-2.0
#include "cli/help_verb.h"

#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/verbs.h"
#include "command/help.h"
#include "command/suggest.h"

namespace plateau {
namespace {

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
  return trouble(invocation, fmt::format("no verb '{}'{}; try 'plateau help'", wanted,
                                         did_you_mean(wanted, names)));
}

}  // namespace

Program plateau_program() {
  return {.tagline = std::string(kTagline),
          .way_in =
              "Start with a log that contains steps and memory, or with the job itself:\n"
              "  plateau judge train.log\n  plateau run -- python train.py\n",
          .exits = verdict_exits(),
          .groups = {{"An answer", {"judge", "run", "watch", "status", "prove", "compare"}},
                     {"A closer look", {"profile", "try", "report", "serve"}},
                     {"A fleet", {"fleet"}},
                     {"Training", {"plan", "train", "check-data"}},
                     {"Files", {"convert", "dump"}},
                     {"This program", {"doctor", "help", "man", "completion"}}}};
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
