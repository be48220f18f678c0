// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include "cli/exit_code.h"
#include "cli/verbs.h"

namespace plateau {
namespace {

int run_completion(const Invocation& invocation) {
  const std::string& shell = invocation.arguments.positionals.front();
  if (shell == "bash") invocation.out.print(bash_completion(invocation.verbs));
  if (shell == "zsh") invocation.out.print(zsh_completion(invocation.verbs));
  if (shell == "fish") invocation.out.print(fish_completion(invocation.verbs));
  return kExitFine;
}

}  // namespace

Verb completion_verb() {
  Verb verb;
  verb.name = "completion";
  verb.summary = "print completions for a shell";
  verb.positional = {.placeholder = "SHELL",
                     .help = "bash, zsh or fish.",
                     .takes = Takes::choice,
                     .required = true,
                     .choices = {"bash", "zsh", "fish"}};
  verb.examples = {
      {"bash, for this session", "source <(plateau completion bash)"},
      {"zsh, for good", "plateau completion zsh > \"${fpath[1]}/_plateau\""},
      {"fish, for good", "plateau completion fish > ~/.config/fish/completions/plateau.fish"},
  };
  verb.run = run_completion;
  return verb;
}

}  // namespace plateau
