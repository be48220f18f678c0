// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "base/fd.h"
#include "base/json_writer.h"
#include "base/pid.h"
#include "base/units.h"
#include "cli/exit_code.h"
#include "cli/shared_options.h"
#include "cli/try_words.h"
#include "cli/verbs.h"
#include "inject/experiment.h"
#include "inject/growth_look.h"
#include "report/text.h"
#include "session/step_hub.h"
#include "session/step_sources.h"

namespace plateau {
namespace {

// Shows growth of half a megabyte a second, and is about as long as people wait.
constexpr double kLookSeconds = 2;

double mb_of(uint64_t bytes) {
  return static_cast<double>(bytes) / kBytesPerMb;
}

std::string_view kind_name(Experiment kind) {
  return kind == Experiment::trim ? "trim" : "gc";
}

// Every watcher of the process gets a mark, so that a step in its curve has a reason.
int tell_watchers(pid_t pid, Experiment kind) {
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int told = 0;
  const std::optional<uid_t> owner = owner_of(pid, "/proc");
  const std::string mark = fmt::format("mark try {} pid={}", kind_name(kind), pid);
  for (const std::string& path : sockets_of(pid, "/proc")) {
    told += owner && send_step_words(socket.get(), path, *owner, mark) ? 1 : 0;
  }
  return told;
}

std::string intention(pid_t pid, const ExperimentPlan& plan) {
  if (plan.kind == Experiment::trim) {
    return fmt::format(
        "Calls {} inside process {} ({}): one thread is stopped at a safe point for it, and free "
        "memory goes back to the kernel.",
        plan.action, pid, plan.allocator);
  }
  return fmt::format(
      "Runs a full {} inside process {}: it is put on Python's list of pending calls and run by "
      "its main thread; finalizers of unreachable objects run too.",
      plan.action, pid);
}

std::string row(std::string_view name, std::optional<uint64_t> before,
                std::optional<uint64_t> after) {
  if (!before || !after) return "";
  return fmt::format("  {:<22} {:>10} {:>10} {:>11}\n", name, format_mb(mb_of(*before)),
                     format_mb(mb_of(*after)), format_mb_signed(mb_of(*after) - mb_of(*before)));
}

std::string report(pid_t pid, const ExperimentOutcome& outcome, const GrowthAround& growth,
                   size_t width) {
  const ResidentFigures& before = outcome.before.resident;
  const ResidentFigures& after = outcome.after.resident;
  std::string text = fmt::format("  {:<22} {:>10} {:>10} {:>11}\n", fmt::format("process {}", pid),
                                 "before", "after", "change");
  text += row("resident", before.rss, after.rss);
  text += row("  anonymous", before.anonymous, after.anonymous);
  text += row("  files", before.file, after.file);
  text += row("  shared", before.shared, after.shared);
  const AllocatorFigures& held = outcome.before.allocator;
  const AllocatorFigures& now = outcome.after.allocator;
  text += row(fmt::format("{}: in use", held.name), held.in_use, now.in_use);
  text += row(fmt::format("{}: held, free", held.name), held.free, now.free);
  text += row(fmt::format("{}: from kernel", held.name), held.system, now.system);
  text += "\n" + wrapped(conclusion(pid, outcome, growth), width);
  text += wrapped(
      fmt::format("{} took {:.3g} ms; one thread, caught {}, was stopped for {:.3g} ms.",
                  outcome.action, outcome.took_s * 1e3, outcome.how, outcome.stopped_s * 1e3),
      width);
  for (const std::string& note : outcome.notes) text += wrapped("Note: " + note + ".", width);
  return text;
}

void write_figures(JsonWriter& json, const MemoryFigures& figures) {
  const ResidentFigures& resident = figures.resident;
  const AllocatorFigures& heap = figures.allocator;
  json.value(json_object("rss_mb", mb_of(resident.rss), "anonymous_mb", mb_of(resident.anonymous),
                         "file_mb", mb_of(resident.file), "shared_mb", mb_of(resident.shared),
                         "heap_in_use_mb", json_if(heap.in_use, mb_of), "heap_free_mb",
                         json_if(heap.free, mb_of), "heap_system_mb", json_if(heap.system, mb_of)));
}

void write_growth(JsonWriter& json, const GrowthAround& growth) {
  if (!growth.before || !growth.after) {
    json.key("growth").null();
    return;
  }
  json.key("growth").value(json_object("before_mb_per_s", growth.before->mb_per_s, "after_mb_per_s",
                                       growth.after->mb_per_s, "goes_on", growth.goes_on()));
}

std::string report_json(pid_t pid, const ExperimentOutcome& outcome, const GrowthAround& growth,
                        int told) {
  JsonWriter json;
  json.begin_object().members("pid", pid, "experiment", kind_name(outcome.kind));
  json.members("action", outcome.action, "allocator", outcome.before.allocator.name);
  json.members("finding", finding_name(outcome.finding), "conclusion",
               conclusion(pid, outcome, growth));
  write_growth(json, growth);
  json.key("before");
  write_figures(json, outcome.before);
  json.key("after");
  write_figures(json, outcome.after);
  json.members("collected", outcome.collected, "took_s", outcome.took_s);
  json.members("stopped_s", outcome.stopped_s, "safe_point", outcome.how);
  json.members("watchers_told", told, "notes", outcome.notes);
  return json.end_object().take() + "\n";
}

int run_try(const Invocation& invocation) {
  Output& out = invocation.out;
  const Arguments& arguments = invocation.arguments;
  const std::vector<std::string>& given = arguments.positionals;
  const std::optional<pid_t> pid_given = parse_pid(given.front());
  if (!pid_given) {
    return trouble(invocation,
                   fmt::format("PID must be a process id, a whole number, not '{}'; try "
                               "'plateau try --help'",
                               given.front()));
  }
  if (given.size() != 2 || (given[1] != "trim" && given[1] != "gc")) {
    return trouble(invocation,
                   fmt::format("say which experiment: 'plateau try {} trim' or 'plateau try "
                               "{} gc'",
                               given.front(), given.front()));
  }
  const pid_t pid = *pid_given;
  const Experiment kind = given[1] == "trim" ? Experiment::trim : Experiment::gc;
  const bool json = arguments.has("json");
  const size_t width = view_of(arguments, STDOUT_FILENO).width;
  const Result<ExperimentPlan> plan = plan_experiment(pid, kind);
  if (!plan.ok()) return trouble(invocation, plan.error().message);
  if (arguments.has("dry-run")) {
    out.print(wrapped(intention(pid, plan.value()), width) + "Nothing was done (--dry-run).\n");
    return kExitFine;
  }
  if (!json) {
    out.print(wrapped(intention(pid, plan.value()), width) + "\n");
    out.flush();
  }
  ExperimentOptions options;
  options.inject.timeout_s = arguments.seconds("timeout").value_or(options.inject.timeout_s);
  options.collect_timeout_s = arguments.seconds("wait").value_or(options.collect_timeout_s);
  const double look_s = arguments.seconds("look").value_or(kLookSeconds);
  GrowthAround growth{.before = look_at_growth(pid, look_s), .after = {}};
  const int told = tell_watchers(pid, kind);
  const Result<ExperimentOutcome> outcome = run_experiment(pid, kind, options);
  if (!outcome.ok()) return trouble(invocation, outcome.error().message);
  growth.after = look_at_growth(pid, look_s);
  out.print(json ? report_json(pid, outcome.value(), growth, told)
                 : report(pid, outcome.value(), growth, width));
  return outcome.value().finding == TrialResult::pending ? kExitUndecided : kExitFine;
}

}  // namespace

Verb try_verb() {
  Verb verb;
  verb.name = "try";
  verb.summary = "make a running process return free memory, and see what that proves";
  verb.description = {
      "Runs one experiment inside a process and compares its memory before and after. 'trim' makes "
      "its allocator return free memory to the kernel (malloc_trim; jemalloc, tcmalloc and "
      "mimalloc have their own): if resident memory falls and the heap in use does not, that much "
      "was retained, not leaked. 'gc' runs a full gc.collect() in a Python process, even if the "
      "collector is disabled there: what goes away was held by reference cycles only. If neither "
      "helps, the memory is in use. What comes back says nothing about the rest, so growth is "
      "measured before and after; for a verdict on it, use 'plateau watch PID'.",
      "This changes the process, once, and only as described. One thread is stopped for the call "
      "at the entry of an allocator function or in a sleeping system call; if no such moment "
      "comes, nothing is done. It must be your own process, or you need CAP_SYS_PTRACE. A plateau "
      "that watches the process records a mark. docs/experiments.md has the details."};
  verb.positional = {.placeholder = "PID trim|gc",
                     .help = "The process, and the experiment.",
                     .takes = Takes::text,
                     .required = true,
                     .most = 2};
  verb.options = together(
      {grouped(
           "Experiment",
           {flag("dry-run", "Only show what would be done, and whether this process allows it."),
            option(
                "timeout", Takes::seconds, "TIME",
                "How long to wait for a safe moment (default 5s); if none comes, nothing is done."),
            option("look", Takes::seconds, "TIME",
                   "How long to measure growth before and after (default 2s)."),
            option("wait", Takes::seconds, "TIME",
                   "With gc: how long to wait for Python to run the collection (default 20s).")}),
       grouped("Output", {flag("json", "Print one JSON object.")})});
  verb.examples = {{"does only the allocator keep it?", "plateau try 4711 trim"},
                   {"would Python's collector free it?", "plateau try 4711 gc"},
                   {"say what would be done", "plateau try 4711 gc --dry-run"},
                   {"for a script", "plateau try 4711 trim --json | jq .finding"}};
  verb.exits = {{"0", "the experiment ran, whatever it showed"},
                {"2", "wrong usage, or it could not run: the process is as it was"},
                {"3", "gc: the collection has not run within --wait; it is still queued"}};
  verb.run = run_try;
  return verb;
}

}  // namespace plateau
