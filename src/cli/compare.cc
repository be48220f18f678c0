// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "answer/answer.h"
#include "base/compression.h"
#include "base/units.h"
#include "cli/ci_files.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/shared_options.h"
#include "cli/verbs.h"
#include "cli/write_file.h"
#include "recording/tidy_csv.h"
#include "report/compare.h"
#include "share/markdown.h"
#include "verdict/compare.h"

namespace plateau {
namespace {

using Sides = std::vector<std::vector<std::string>>;  // Files of each side, the baseline first.

// Each file is a side, or each group between dividers is one.
Result<Sides> sides_of(const Arguments& arguments) {
  const std::vector<std::string>& files = arguments.positionals;
  Sides sides;
  if (arguments.dividers.empty()) {
    for (const std::string& file : files) sides.push_back({file});
  } else {
    size_t from = 0;
    std::vector<size_t> ends = arguments.dividers;
    ends.push_back(files.size());
    for (const size_t end : ends) {
      if (end == from) return usage_error("--vs needs a FILE on both sides");
      sides.emplace_back(files.begin() + static_cast<std::ptrdiff_t>(from),
                         files.begin() + static_cast<std::ptrdiff_t>(end));
      from = end;
    }
  }
  if (std::count(files.begin(), files.end(), "-") > 1) {
    return usage_error("standard input can be read only once");
  }
  return sides;
}

// One run a file: its last, as judge answers for it. A single file is compared with itself, run by
// run.
Result<std::vector<RunGroup>> groups_of(const Invocation& invocation, const Sides& sides) {
  const Context given = given_facts(invocation.arguments);
  std::vector<RunGroup> groups;
  for (const std::vector<std::string>& side : sides) {
    RunGroup group;
    for (const std::string& file : side) {
      Result<std::vector<Run>> runs = read_runs(invocation, file);
      if (!runs) return runs.error();
      for (Run& run : runs.value()) apply_facts(given, run.context);
      if (sides.size() > 1) {
        group.push_back(std::move(runs.value().back()));
        continue;
      }
      for (Run& run : runs.value()) groups.push_back({std::move(run)});
    }
    if (!group.empty()) groups.push_back(std::move(group));
  }
  if (groups.size() < 2) {
    return usage_error(
        fmt::format("{} holds only one run; compare needs two", sides.front().front()));
  }
  return groups;
}

// With --baseline: the runs of that file against the last ones of the FILEs.
Result<std::vector<RunGroup>> against_baseline(const Invocation& invocation,
                                               const std::string& baseline) {
  const Context given = given_facts(invocation.arguments);
  std::vector<RunGroup> groups(2);
  Result<std::vector<Run>> runs = read_runs(invocation, baseline);
  if (!runs) {
    return Error{.kind = runs.error().kind,
                 .message = runs.error().message + "; --write-baseline makes a baseline"};
  }
  groups.front() = std::move(runs.value());
  for (const std::string& file : invocation.arguments.positionals) {
    Result<std::vector<Run>> read = read_runs(invocation, file);
    if (!read) return read.error();
    groups.back().push_back(std::move(read.value().back()));
  }
  for (RunGroup& group : groups) {
    for (Run& run : group) apply_facts(given, run.context);
  }
  return groups;
}

// The runs as a table that a repository can keep: small, readable, the same on every machine.
int write_baseline(const Invocation& invocation, const std::string& path, const RunGroup& runs) {
  std::string table = tidy_csv(runs);
  constexpr int kLevel = 9;
  if (path.ends_with(".gz")) table = gzipped(table, kLevel);
  const auto error = write_file(path, table, true);
  if (error) return trouble(invocation, error->message);
  invocation.out.remark(
      fmt::format("{}: baseline of {} written\n", printable(path), counted(runs.size(), "run")));
  return kExitFine;
}

int exit_code_for_outcome(Outcome outcome) {
  if (outcome == Outcome::undecided) return kExitUndecided;
  return outcome == Outcome::worse ? kExitLeak : kExitFine;
}

// Names in it what a traced heap knows.
Comparison compared(const std::vector<RunGroup>& groups, const Policy& policy) {
  Comparison comparison = compare(groups, policy);
  for (size_t side = 0; side < comparison.sides.size(); ++side) {
    std::vector<Verdict>& verdicts = comparison.sides[side].verdicts;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const auto heap = answering_profile(groups[side][i], verdicts[i], policy);
      if (heap) verdicts[i].site = growth_place(*heap);
    }
  }
  return comparison;
}

int show(const Invocation& invocation, const Comparison& comparison) {
  const Arguments& arguments = invocation.arguments;
  const View view = view_of(arguments, STDOUT_FILENO);
  if (arguments.has("json")) {
    invocation.out.print(comparison_json(comparison) + "\n");
  } else if (arguments.has("quiet")) {
    invocation.out.print(render_comparison_line(comparison, view));
  } else {
    if (arguments.has("baseline")) {
      invocation.out.print(delta_sentence(comparison.changes.front()) + "\n");
    }
    invocation.out.print(render_comparison(comparison, view));
  }
  const int code = exit_code_for_outcome(comparison.outcome);
  if (!ci_files_wanted(arguments)) return code;
  std::vector<CiCase> cases;
  cases.reserve(comparison.changes.size());
  for (const Change& change : comparison.changes) cases.push_back(case_of(comparison, change));
  const int written = write_ci_files(invocation, cases, comparison_markdown(comparison));
  return worse_exit_code(written, code);
}

// The candidate's runs alone, for a baseline that nothing is compared with.
int only_write_baseline(const Invocation& invocation, const std::string& path) {
  RunGroup runs;
  for (const std::string& file : invocation.arguments.positionals) {
    Result<std::vector<Run>> read = read_runs(invocation, file);
    if (!read) return trouble(invocation, read.error().message);
    apply_facts(given_facts(invocation.arguments), read.value().back().context);
    runs.push_back(std::move(read.value().back()));
  }
  return write_baseline(invocation, path, runs);
}

int run_compare(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const std::optional<std::string> baseline = arguments.text("baseline");
  const std::optional<std::string> write_to = arguments.text("write-baseline");
  if ((baseline || write_to) && !arguments.dividers.empty()) {
    return misused(invocation, usage_error("--vs does not go with a baseline file"));
  }
  if (write_to && !baseline) return only_write_baseline(invocation, *write_to);
  const Result<Sides> sides = sides_of(arguments);
  if (!sides) return misused(invocation, sides.error());
  const Result<std::vector<RunGroup>> groups =
      baseline ? against_baseline(invocation, *baseline) : groups_of(invocation, sides.value());
  if (!groups) return trouble(invocation, groups.error().message);
  const int code = show(invocation, compared(groups.value(), policy_of(arguments)));
  if (!write_to) return code;
  return worse_exit_code(code, write_baseline(invocation, *write_to, groups.value().back()));
}

Options compare_options() {
  const Option divider = {
      .name = "vs",
      .group = "Input",
      .help =
          "Separates FILEs: those before it are runs of the baseline, those after it are "
          "runs to compare with it. May be given more than once.",
      .divides = true};
  return together(
      {together({input_options(), {divider}}),
       grouped("Input",
               {option("baseline", Takes::file, "CSV",
                       "Compare all FILEs together with the runs in CSV, which --write-baseline "
                       "wrote; the first line summarises the change for a pull request."),
                option("write-baseline", Takes::file, "CSV",
                       "Write the runs of FILEs to CSV as a baseline for later runs, compressed if "
                       "it ends in .gz; with --baseline, after comparing. Replaces the file.")}),
       without("limit", context_options()),
       grouped("Answer",
               {flag("json", "Print one JSON object for the whole comparison."), strict_option()}),
       ci_options(), look_options("Print only the first line: what changed.")});
}

}  // namespace

Verb compare_verb() {
  Verb verb;
  verb.name = "compare";
  verb.summary = "check whether a fix worked, from runs before and after it";
  verb.description = {
      "Puts two or more runs side by side: growth, floor, plateau, peak, spikes and time per step, "
      "and says which differences are significant. The first FILE is the baseline; each of the "
      "others is compared with it. If a file holds several runs, the last one counts; a single "
      "FILE is compared with itself, its first run being the baseline.",
      "The runs are compared on the same clock, measure and kind of memory, and only up to where "
      "the shorter run ends. Growth is called removed only if the baseline's growth would have "
      "shown by then.",
      "A difference is significant if its 99 % interval excludes zero and it is large enough to "
      "matter: 1 % of the level or of the step time, or 2 MB. With one run per side, run-to-run "
      "variation is unknown; give several runs, with --vs between the sides."};
  verb.positional = input_positional();
  verb.positional.help =
      "Logs and recordings, plain or compressed (gzip, zstd), the baseline first; '-' is standard "
      "input.";
  verb.positional.required = true;
  verb.options = compare_options();
  verb.examples = {
      {"did the fix work?", "plateau compare before.log after.log"},
      {"three runs before and three after, to account for run-to-run variation",
       "plateau compare old1.log old2.log old3.log --vs new1.log new2.log new3.log"},
      {"several candidates against one baseline", "plateau compare main.csv fix-a.csv fix-b.csv"},
      {"fail a CI job if memory grows more than on the main branch",
       "plateau compare -q main.csv.gz branch.csv.gz"},
      {"keep a baseline of the main branch",
       "plateau compare --write-baseline base.csv.gz run.plateau"},
      {"what does this branch change?", "plateau compare --baseline base.csv.gz run.plateau"},
      {"with facts the logs do not state", "plateau compare a.log b.log --examples 663 --batch 8"},
      {"for a program", "plateau compare --json before.log after.log"},
  };
  verb.exits = {{"0", "better, or no worse in growth"},
                {"1", "worse: a new leak, a faster one, or more growth"},
                {"2", "wrong usage, or input or output that failed"},
                {"3", "undecided, or too short to tell"}};
  verb.run = run_compare;
  return verb;
}

}  // namespace plateau
