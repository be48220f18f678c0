// SPDX-License-Identifier: Apache-2.0
#include "cli/input.h"

#include <algorithm>

#include "cli/progress.h"
#include "command/screen.h"
#include "import/import.h"

namespace plateau {

Positional input_positional() {
  return {.placeholder = "FILE",
          .help =
              "Logs and recordings, plain or compressed (gzip, zstd); '-' is standard input, which "
              "is also read when no FILE is given and something is piped in.",
          .takes = Takes::file,
          .required = false,
          .many = true};
}

Option format_option() {
  Option option = choice("format", "F", {"auto"},
                         "Read FILE as format F instead of detecting it from the content: auto");
  for (const FormatInfo& format : import_formats()) {
    option.choices.emplace_back(format.name);
    option.help += ", " + std::string(format.name);
  }
  option.help += ".";
  option.group = "Input";
  return option;
}

std::string formats_explained() {
  std::string text = "Formats, detected from the content:";
  std::string separator = " ";
  for (const FormatInfo& format : import_formats()) {
    text += separator + std::string(format.name) + " (" + std::string(format.summary) + ")";
    separator = ", ";
  }
  return text + ".";
}

Result<std::vector<std::string>> files_of(const Invocation& invocation) {
  if (!invocation.arguments.positionals.empty()) return invocation.arguments.positionals;
  if (!stdin_is_terminal()) return std::vector<std::string>{"-"};
  return usage_error("no FILE given and nothing is piped in");
}

Result<std::vector<Run>> read_runs(const Invocation& invocation, const std::string& file) {
  Progress progress(invocation.out, file == "-" ? "standard input" : file);
  ImportOptions options;
  options.format = invocation.arguments.text("format").value_or("auto");
  options.progress = [&progress](uint64_t done, uint64_t total) { progress.update(done, total); };
  Result<std::vector<Run>> runs = import_file(file, options);
  if (!runs) return runs;
  std::erase_if(runs.value(), [](const Run& run) { return run.instants.empty(); });
  if (runs.value().empty()) {
    return Error{Error::Kind::no_samples, file + ": no memory figures found"};
  }
  return runs;
}

}  // namespace plateau
