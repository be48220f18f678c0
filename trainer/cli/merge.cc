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
  verb.summary = "merge an adapter into the weights it was trained on";
  verb.description = {
      "Reads the original shards, not the quantised copy used in training, and writes shards with "
      "the same names and dtypes, one tensor at a time: it needs memory for one tensor only, and "
      "no 4-bit rounding error reaches the result."};
  const auto option = [](std::string name, char letter, std::string help) {
    return Option{.name = std::move(name),
                  .letter = letter,
                  .takes = Takes::file,
                  .placeholder = "DIR",
                  .group = "Options",
                  .help = std::move(help)};
  };
  verb.options = {
      option("base-model", 'm', "Directory of the base model."),
      option("adapter", 'a', "Directory of the adapter."),
      option("output-dir", 'o', "Directory to write the merged model to; must not exist.")};
  verb.examples = {
      {"a model for inference", "plateau-train merge -m model -a out/adapter -o merged"}};
  verb.run = run_merge;
  return verb;
}

}  // namespace plateau::train
