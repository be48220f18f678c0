// SPDX-License-Identifier: Apache-2.0
#include "cli/input.h"

#include <algorithm>

#include "cli/progress.h"
#include "cli/reading_file.h"
#include "command/screen.h"
#include "import/import.h"
#include "recording/redact_run.h"

namespace plateau {

Positional input_positional() {
  return {
      .placeholder = "FILE",
      .help =
          "Logs, recordings and folders of runs, plain or compressed (gzip, zstd); '-' is standard "
          "input, which is also read when no FILE is given and something is piped in.",
      .takes = Takes::file,
      .required = false,
      .many = true};
}

Options input_options() {
  Option format = choice("format", "F", {"auto"},
                         "Read FILE as format F instead of detecting it from the content: auto");
  for (const FormatInfo& info : import_formats()) {
    format.choices.emplace_back(info.name);
    format.help += ", " + std::string(info.name);
  }
  format.help += '.';
  return grouped(
      "Input",
      {std::move(format),
       option("memory", Takes::text, "NAME",
              "Column that holds the memory, or the words beside the number, as a name or a "
              "regular expression: rss, 'heap.*used' (default: the best match)."),
       option("clock", Takes::text, "NAME",
              "Column to use as the clock: step, elapsed; 'none' numbers the samples."),
       option("series", Takes::text, "NAME",
              "Column that says whose memory it is: pid, pod; 'none' reads one series."),
       option("unit", Takes::text, "UNIT",
              "Unit of the memory if the log does not say: B, KiB, MB, pages, or an amount such "
              "as 640MB (for per cent of 64 GB).")});
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

Result<ReadingWishes> wishes_of(const Arguments& arguments) {
  ReadingWishes wishes;
  wishes.memory = arguments.text("memory").value_or("");
  wishes.clock = arguments.text("clock").value_or("");
  wishes.series = arguments.text("series").value_or("");
  if (const std::optional<std::string> unit = arguments.text("unit")) {
    const Result<double> mb = unit_named(*unit);
    if (!mb) return mb.error();
    wishes.unit_mb = mb.value();
  }
  return wishes;
}

Result<std::vector<Run>> read_runs(const Invocation& invocation, const std::string& file,
                                   std::vector<std::string>* account,
                                   std::optional<Following> following) {
  Progress progress(invocation.out, file == "-" ? "standard input" : file);
  ImportOptions options;
  options.format = invocation.arguments.text("format").value_or("auto");
  options.account = account;
  options.following = std::move(following);
  Result<ReadingWishes> wishes = wishes_of(invocation.arguments);
  if (!wishes) return wishes.error();
  options.wishes = wishes.value();
  if (!options.wishes.any() && options.format == "auto") {
    Result<ReadingWishes> remembered = remembered_wishes(file);
    if (!remembered) return remembered.error();
    options.wishes = remembered.value();
  }
  options.progress = [&progress](uint64_t done, uint64_t total) { progress.update(done, total); };
  Result<std::vector<Run>> runs = import_file(file, options);
  if (!runs) return runs;
  std::erase_if(runs.value(), [](const Run& run) { return run.instants.empty(); });
  for (Run& run : runs.value()) redact(run);
  if (runs.value().empty()) {
    return Error{Error::Kind::no_samples, file + ": no memory figures found"};
  }
  return runs;
}

}  // namespace plateau
