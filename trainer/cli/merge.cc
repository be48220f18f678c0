// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "command/exit_code.h"
#include "trainer/cli/verbs.h"
#include "trainer/loop/merge.h"

namespace plateau::train {
namespace {

int run_merge(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  for (const char* needed : {"base-model", "adapter", "output-dir"}) {
    if (!arguments.has(needed)) return complain(invocation, fmt::format("--{} is missing", needed));
  }
  const auto merged = merge_adapter(*arguments.text("base-model"), *arguments.text("adapter"),
                                    *arguments.text("output-dir"));
  if (!merged) return complain(invocation, merged.error().message);
  invocation.out.print(fmt::format("Wrote {}\n", *arguments.text("output-dir")));
  return kExitFine;
}

}  // namespace

Verb merge_command() {
  Verb verb;
  verb.name = "merge";
  verb.program = "plateau-train";
  verb.summary = "put an adapter into the weights it was trained on";
  verb.description = {
      "Reads the original shards, not what training made of them, and writes shards of the same "
      "names and types, one tensor at a time: memory is that of one tensor, and no rounding of "
      "four bits gets into the result."};
  const auto option = [](std::string name, char letter, std::string help) {
    return Option{.name = std::move(name),
                  .letter = letter,
                  .takes = Takes::file,
                  .placeholder = "DIR",
                  .group = "Options",
                  .help = std::move(help)};
  };
  verb.options = {option("base-model", 'm', "Model directory."),
                  option("adapter", 'a', "Adapter directory."),
                  option("output-dir", 'o', "Where to write; must not exist.")};
  verb.examples = {
      {"a model for inference", "plateau-train merge -m model -a out/adapter -o merged"}};
  verb.run = run_merge;
  return verb;
}

}  // namespace plateau::train
