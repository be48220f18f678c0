// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "command/exit_code.h"
#include "trainer/cli/result.h"
#include "trainer/cli/verbs.h"
#include "trainer/model/reference_check.h"

namespace plateau::train {
namespace {

Result<ReferenceReport> check(const Arguments& arguments) {
  const std::string model = *arguments.text("model");
  const std::optional<std::string> adapter = arguments.text("adapter");
  if (!adapter) return check_reference(model, *arguments.text("case"), {});
  const Result<ModelConfig> config = read_model_config(model);
  if (!config) return config.error();
  const Result<std::unique_ptr<QwenVl>> adapted =
      load_adapted_model(model, config.value(), {}, *adapter);
  if (!adapted) return adapted.error();
  return check_reference(*adapted.value(), *arguments.text("case"));
}

int run_check(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  for (const char* needed : {"model", "case"}) {
    if (!arguments.has(needed)) return complain(invocation, fmt::format("--{} is missing", needed));
  }
  const Result<ReferenceReport> checked = check(arguments);
  if (!checked) return complain(invocation, checked.error().message);
  invocation.out.print(reference_json(checked.value()) + "\n");
  return checked.value().agrees() ? kExitFine : kExitLeak;
}

}  // namespace

Verb check_command() {
  Verb verb;
  verb.name = "check";
  verb.program = "plateau-train";
  verb.summary = "compare the model's numbers with those of a stored reference case";
  verb.description = {
      "Runs the inputs of a case through the model and prints, as JSON, its loss, the stored loss, "
      "and the largest relative errors of position ids, activations, logits and gradients. "
      "Cases are safetensors files with in/*, position_ids, act/*, logits, loss and g/* "
      "(docs/formats/reference-case.md)."};
  const auto option = [](std::string name, std::string placeholder, std::string help) {
    return Option{.name = std::move(name),
                  .takes = Takes::file,
                  .placeholder = std::move(placeholder),
                  .group = "Options",
                  .help = std::move(help)};
  };
  verb.options = {option("model", "DIR", "Directory of the model to check."),
                  option("case", "FILE", "Stored reference case to compare with."),
                  option("adapter", "DIR",
                         "Put this LoRA adapter on the model, and compare its gradients, not those "
                         "of all weights.")};
  verb.examples = {{"against the reference",
                    "plateau-train check --model trainer/testdata/qwen25vl-tiny --case "
                    "trainer/testdata/qwen25vl-tiny/images.safetensors"}};
  verb.exits = {{"0", "loss and logits within 1e-5, gradients within 1e-4, positions exact"},
                {"1", "outside these tolerances"},
                {"2", "bad input"}};
  verb.run = run_check;
  return verb;
}

}  // namespace plateau::train
