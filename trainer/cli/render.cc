// SPDX-License-Identifier: Apache-2.0
// What a chat template makes of a conversation: to compare with other renderers, and for people.
#include <fmt/format.h>

#include "command/exit_code.h"
#include "trainer/cli/verbs.h"
#include "trainer/loop/durable.h"
#include "trainer/text/jinja.h"

namespace plateau::train {
namespace {

int run_render(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  for (const char* needed : {"template", "values"}) {
    if (!arguments.has(needed)) return complain(invocation, fmt::format("--{} is missing", needed));
  }
  const std::string file = *arguments.text("template");
  const Result<std::string> source = read_whole(file);
  if (!source) return complain(invocation, source.error().message);
  const Result<JinjaTemplate> read = JinjaTemplate::parse(source.value());
  if (!read) return complain(invocation, fmt::format("{} {}", file, read.error().message));
  const std::string values_file = *arguments.text("values");
  const Result<std::string> json = read_whole(values_file);
  if (!json) return complain(invocation, json.error().message);
  const Result<JinjaScope> values = jinja_values_of_json(json.value());
  if (!values) {
    return complain(invocation, fmt::format("{}: {}", values_file, values.error().message));
  }
  const Result<std::string> text = read.value().render(values.value());
  if (!text) return complain(invocation, fmt::format("{}: {}", file, text.error().message));
  invocation.out.print(text.value());
  return kExitFine;
}

}  // namespace

Verb render_command() {
  Verb verb;
  verb.name = "render";
  verb.program = "plateau-train";
  verb.summary = "show what a chat template makes of a conversation";
  verb.description = {
      "Renders a Jinja chat template as transformers does and prints the text. Understood is what "
      "the templates of Qwen's vision-language models use; anything else is an error that names "
      "it."};
  const auto option = [](std::string name, std::string help) {
    return Option{.name = std::move(name),
                  .takes = Takes::file,
                  .placeholder = "FILE",
                  .group = "Options",
                  .help = std::move(help)};
  };
  verb.options = {option("template", "The template, for example a model's chat_template.jinja."),
                  option("values", "JSON object with messages, add_generation_prompt and so on.")};
  verb.examples = {
      {"one conversation",
       "plateau-train render --template model/chat_template.jinja --values conversation.json"}};
  verb.run = run_render;
  return verb;
}

}  // namespace plateau::train
