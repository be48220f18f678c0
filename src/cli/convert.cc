// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "cli/write_file.h"
#include "recording/facts.h"
#include "recording/tidy_csv.h"
#include "report/text.h"

namespace plateau {
namespace {

std::string columns_of(const Run& run) {
  std::vector<std::string> names;
  for (const Series& series : run.series) {
    std::string name(metric_name(series.metric));
    if (!series.label.empty() && series.label != name) name += " (" + series.label + ")";
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (const Gauge& gauge : run.gauges) {
    if (std::find(names.begin(), names.end(), gauge.name) == names.end()) {
      names.push_back(gauge.name);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// What was understood of one run, line by line, for standard error.
std::string summary_of(const Run& run) {
  std::string title = run.title.empty() ? run.source : run.source + ", " + run.title;
  std::string out = fmt::format(
      "{}: {}, {}, {}\n", title, run.format, counted(run.instants.size(), "sample"),
      run.processes.size() == 1 ? "1 process" : fmt::format("{} processes", run.processes.size()));
  out += fmt::format("  columns  {}\n", columns_of(run));
  std::vector<std::string> facts;
  for (const FactKind& kind : kFacts) {
    const std::optional<Fact>& fact = run.context.*kind.field;
    if (!fact) continue;
    facts.push_back(fmt::format("{} {} ({})", kind.spelled(' '), kind.told(*fact), fact->source));
  }
  if (!facts.empty()) out += fmt::format("  context  {}\n", fmt::join(facts, ", "));
  if (!run.events.empty()) out += fmt::format("  events   {}\n", run.events.size());
  for (const std::string& note : run.notes) out += fmt::format("  note     {}\n", note);
  if (run.lines_bad > 0) {
    out += fmt::format("  bad      {} of {}\n", run.lines_bad, counted(run.lines_read, "line"));
    for (const std::string& bad : run.bad_samples) out += fmt::format("           {}\n", bad);
  }
  return out;
}

// Sanitised line by line, because printable() would swallow the line ends.
void remark_summary(const Run& run, Output& out) {
  const std::string summary = summary_of(run);
  std::string_view rest = summary;
  while (!rest.empty()) {
    out.remark(printable(take_part(rest, '\n')) + "\n");
  }
}

int run_convert(const Invocation& invocation) {
  Output& out = invocation.out;
  const Result<std::vector<std::string>> files = files_of(invocation);
  if (!files) return misused(invocation, files.error());
  std::vector<Run> all;
  int code = kExitFine;
  for (const std::string& file : files.value()) {
    std::vector<std::string> account;
    Result<std::vector<Run>> runs = read_runs(invocation, file, &account);
    const bool explain = invocation.arguments.has("explain");
    if (explain && !account.empty()) {
      out.print(printable(file) + "\n");
      for (const std::string& line : account) out.print("  " + printable(line) + "\n");
    }
    if (!runs) {
      code = trouble(invocation, runs.error().message);
      continue;
    }
    if (explain) {
      for (const Run& run : runs.value()) {
        for (const std::string& note : run.notes) out.print("  note: " + printable(note) + "\n");
        for (const std::string& bad : run.bad_samples) out.print("  bad: " + printable(bad) + "\n");
      }
      continue;
    }
    for (Run& run : runs.value()) all.push_back(std::move(run));
  }
  if (all.empty()) return code;
  if (!invocation.arguments.has("quiet")) {
    for (const Run& run : all) remark_summary(run, out);
  }
  const int written = write_output(invocation, tidy_csv(all));
  return written == kExitFine ? code : written;
}

}  // namespace

Verb convert_verb() {
  Verb verb;
  verb.name = "convert";
  verb.summary = "write what plateau reads from a log as tidy CSV";
  verb.description = {
      "Shows what plateau sees in a file: every sample as a row of CSV on standard output, and on "
      "standard error the format recognised, the columns, the facts found with their source, and "
      "the lines that could not be read. 'plateau judge' gives the same answer on the result.",
      formats_explained()};
  verb.positional = input_positional();
  verb.options = together(
      {input_options(),
       grouped("Output",
               {option("output", Takes::file, "OUT",
                       "Write to OUT instead of standard output; OUT must not exist.", 'o'),
                flag("explain",
                     "Instead of the samples, show how FILE was read: the layout, which number was "
                     "taken as what and why, and every other column with its weight."),
                flag("force", "Replace OUT if it exists."),
                flag("quiet", "Leave out the summary on standard error.", 'q')})});
  verb.examples = {
      {"what does plateau see in this log?", "plateau convert train.log | head"},
      {"how was it read, and what else was there?", "plateau convert --explain train.log"},
      {"keep it", "plateau convert train.log -o train.csv"},
      {"several recordings in one table", "plateau convert a.log b.dat.gz -q -o all.csv --force"}};
  verb.run = run_convert;
  return verb;
}

}  // namespace plateau
