// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "answer/answer.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/pid.h"
#include "base/text.h"
#include "cli/census_options.h"
#include "cli/exit_code.h"
#include "cli/pusher.h"
#include "cli/shared_options.h"
#include "cli/tell_options.h"
#include "cli/verbs.h"
#include "cli/watch_all.h"
#include "cli/watch_loop.h"
#include "report/explain.h"
#include "report/json.h"
#include "report/terminal.h"
#include "session/watcher.h"
#include "tell/bridge.h"

namespace plateau {
namespace {

struct WatchRequest {
  WatchOptions watch;
  LookOptions look;
  Expectation expected;
  TellOptions tell;
  PushRequest push;
  std::string push_name;  // What the run is called there.
  bool explain = false;
};

Options own_options() {
  return together(
      {grouped(
           "Which job",
           {flag(
                "find-training",
                "Instead of a PID: pick the process of yours that looks most like a training job."),
            flag("all",
                 "Instead of a PID: watch every training job on this machine as they come and go "
                 "(Python processes that map torch, CUDA, JAX or TensorFlow; as root, everybody's) "
                 "until stopped. Use it with --push or --textfile."),
            option(
                "log", Takes::file, "FILE",
                "Read the job's steps from FILE as it grows (default: the file its output goes to, "
                "if it goes to one).")}),
       grouped(
           "Watching",
           {option("for", Takes::seconds, "TIME",
                   "Watch for this long (10m, 1h30m), then print the verdict and exit."),
            option(
                "interval", Takes::seconds, "TIME",
                "Time between samples, and between lines when piped (default: samples from 0.1 s "
                "at first to 1 s later, a line every 10 s)."),
            option("output", Takes::file, "FILE", "Write a recording to FILE (default: none).",
                   'o'),
            may_be_bare(choice(
                "heap", "MODE", {"sampled", "exact"},
                "Load the heap tracer into process PID and record which call stacks hold memory, "
                "for "
                "'plateau profile FILE': sampled (default) or exact. Needs --output. The tracer is "
                "removed again at the end.")),
            flag("auto",
                 "Load the module that 'plateau run' uses into Python process PID, to read steps "
                 "and epochs from its training framework. It stays loaded afterwards, silent."),
            flag("lines", "Print lines even on a terminal.")}),
       grouped("Watching", census_options()), grouped("Watching", recording_options()),
       grouped("Answer", {flag("explain", "Also show every explanation that competed."),
                          flag("json",
                               "Print one JSON object per line: the state at each interval, the "
                               "verdict at the end.")})});
}

Result<pid_t> pid_to_watch(const Arguments& arguments, const ProbeOptions& probe) {
  const bool find = arguments.has("find-training");
  if (find && !arguments.positionals.empty()) {
    return usage_error("--find-training and PID exclude each other");
  }
  if (find) return find_training(probe);
  if (arguments.positionals.empty()) {
    return usage_error("which process? give a PID, or --find-training, or --all");
  }
  return parse_pid(arguments.positionals.front()).value_or(-1);
}

// The words of its command line.
std::vector<std::string> words_of(pid_t pid, const std::string& proc) {
  const std::string text = text_of_file(fmt::format("{}/{}/cmdline", proc, pid), 65536);
  std::vector<std::string> words;
  std::string_view rest = text;
  while (!rest.empty()) words.emplace_back(take_part(rest, '\0'));
  return words;
}

void take_look(const Arguments& arguments, LookOptions& look) {
  look.for_s = arguments.seconds("for");
  look.print_every_s = arguments.seconds("interval").value_or(look.print_every_s);
  look.json = arguments.has("json");
  look.quiet = arguments.has("quiet");
  look.view = view_of(arguments, STDOUT_FILENO);
}

Result<WatchRequest> watch_request(const Arguments& arguments) {
  WatchRequest request;
  const Result<pid_t> pid = pid_to_watch(arguments, request.watch.probe);
  if (!pid) return pid.error();
  request.watch.pid = pid.value();
  request.watch.probe.exclude = {getpid()};
  request.watch.recording_path = arguments.text("output").value_or("");
  take_recording_options(arguments, request.watch);
  request.watch.interval_s = arguments.seconds("interval").value_or(0);
  request.watch.log = arguments.text("log").value_or("");
  request.watch.learns_steps = arguments.has("auto");
  if (request.watch.learns_steps && !request.watch.log.empty()) {
    return usage_error("--auto and --log exclude each other: both say where steps come from");
  }
  const Result<double> census = census_share(arguments);
  if (!census) return census.error();
  request.watch.census_share = census.value();
  request.watch.given = given_facts(arguments);
  if (arguments.has("heap")) {
    if (request.watch.recording_path.empty()) {
      return usage_error("--heap needs a recording; say where with --output FILE");
    }
    request.watch.heap = KeeperOptions{};
    if (arguments.text("heap") == "exact") request.watch.heap->mode = HeapMode::exact;
  }
  request.watch.judged_by = policy_of(arguments);
  const Result<TellOptions> tell = tell_request(arguments);
  if (!tell) return tell.error();
  request.tell = tell.value();
  request.tell.name = fmt::format("pid {}", request.watch.pid);
  request.tell.python = python_of(words_of(request.watch.pid, request.watch.probe.proc));
  request.tell.recording = request.watch.recording_path;
  const Result<PushRequest> push = push_request(arguments);
  if (!push) return push.error();
  request.push = push.value();
  request.push_name =
      run_label(request.watch.recording_path, words_of(request.watch.pid, request.watch.probe.proc),
                unix_now_s());
  const Result<Expectation> expected = expectation_of(arguments);
  if (!expected) return expected.error();
  request.expected = expected.value();
  take_look(arguments, request.look);
  request.explain = arguments.has("explain");
  return request;
}

void print_verdict(const Verdict& verdict, const WatchRequest& request,
                   const CensusWatch::Cost& census, Output& out) {
  const View& view = request.look.view;
  if (request.look.json) {
    out.print(verdict_json(verdict) + "\n");
  } else if (request.look.quiet) {
    out.print(render_line(verdict, view));
  } else {
    out.print(render_verdict(verdict, view));
    if (request.explain) out.print(render_explain(verdict, view));
    out.remark(census_sentence(census, verdict.over));
  }
}

Result<WatchAllRequest> watch_all_request(const Arguments& arguments) {
  WatchAllRequest request;
  if (std::optional<Error> error = not_with_all(arguments)) return *error;
  request.watch.probe.exclude = {getpid()};
  take_recording_options(arguments, request.watch);
  request.watch.interval_s = arguments.seconds("interval").value_or(0);
  request.watch.judged_by = policy_of(arguments);
  take_look(arguments, request.look);
  const Result<PushRequest> push = push_request(arguments);
  if (!push) return push.error();
  request.push = push.value();
  return request;
}

// Whoever is told beside the screen. Nothing, or the exit code.
std::optional<int> start_pushing(const Invocation& invocation, WatchRequest& request,
                                 std::optional<LivePusher>& pusher) {
  if (!request.push.any()) return std::nullopt;
  Result<Pusher> started = Pusher::start(request.push, request.watch.say);
  if (!started) return trouble(invocation, started.error().message);
  pusher.emplace(std::move(started.value()));
  pusher->run_is(request.push_name, request.watch.recording_path);
  pusher->follow(request.watch, *request.watch.judged_by);
  request.watch.probe.exclude.push_back(pusher->pid());
  return std::nullopt;
}

int run_watch(const Invocation& invocation) {
  Output& out = invocation.out;
  if (invocation.arguments.has("all")) {
    const Result<WatchAllRequest> all = watch_all_request(invocation.arguments);
    if (!all) return misused(invocation, all.error());
    return watch_all(invocation, all.value());
  }
  const Result<WatchRequest> asked = watch_request(invocation.arguments);
  if (!asked) return trouble(invocation, asked.error().message);
  WatchRequest request = asked.value();
  request.watch.say = [&out](const std::string& sentence) { out.complain("watch", sentence); };
  const bool lines = invocation.arguments.has("lines") || request.look.json || request.look.quiet ||
                     isatty(STDOUT_FILENO) == 0;
  std::optional<LiveTeller> teller;
  if (request.tell.any()) {
    request.tell.say = request.watch.say;
    request.tell.show_output = lines;
    Result<Teller> started = Teller::start(request.tell);
    if (!started) return trouble(invocation, started.error().message);
    teller.emplace(std::move(started.value()));
    teller->follow(request.watch, *request.watch.judged_by);
  }
  std::optional<LivePusher> pusher;
  if (const auto failed = start_pushing(invocation, request, pusher)) return *failed;
  Result<Watcher> watcher = Watcher::attach(request.watch);
  if (!watcher) return trouble(invocation, watcher.error().message);
  if (lines) {
    watch_in_lines(watcher.value(), request.look, out);
  } else {
    watch_on_screen(watcher.value(), request.look, out);
  }
  // From here on nothing is sampled any more.
  const AnswerOptions options = {.policy = *request.watch.judged_by,
                                 .name = fmt::format("pid {}", request.watch.pid)};
  const Verdict verdict = answer_run(watcher.value().finish(), options).verdict;
  print_verdict(verdict, request, watcher.value().session().census().cost(), out);
  out.flush();
  if (teller) teller->finish(verdict);
  if (pusher) pusher->finish(verdict);
  for (const std::string& missing : unmet(verdict, request.expected)) {
    out.complain("watch", missing);
  }
  return exit_code_for(verdict, request.expected);
}

}  // namespace

Verb watch_verb() {
  Verb verb;
  verb.name = "watch";
  verb.summary = "watch a running job: its processes, its memory, the verdict so far";
  verb.description = {
      "Give the pid of any process of the job, be it a worker or a launcher: the whole tree is "
      "found, with a role for each process. On a terminal it shows a live screen (? for its keys); "
      "into a pipe, it prints a line every 10 s. At the end (q, --for, or the job ends) it prints "
      "the verdict, which decides the exit code.",
      "Steps come from the 'plateau run' that started the job, from a PLATEAU_SOCKET the job "
      "was given, or from the file its output goes to. Without any of these, growth is judged "
      "over time.",
      "Watching only reads: nothing is sent to the job, and several watchers may run at once. "
      "But a Python process that grows is stopped twice for a few milliseconds, to see who holds "
      "its objects (--no-census turns that off), --heap changes the process while it is watched, "
      "and --auto leaves a module in it; docs/experiments.md and docs/auto.md explain how."};
  verb.positional = {.placeholder = "PID",
                     .help = "Any process of the job.",
                     .takes = Takes::pid,
                     .required = false};
  verb.options = together({own_options(), tell_options(), push_options(), context_options(),
                           expect_options(), look_options()});
  verb.examples = {
      {"watch pid 4242 and everything that belongs to it", "plateau watch 4242"},
      {"let plateau find the training job", "plateau watch --find-training"},
      {"ten minutes, then an answer for a script", "plateau watch 4242 --for 10m -q"},
      {"keep a recording", "plateau watch 4242 -o night.plateau"},
      {"read the steps from the framework inside the job", "plateau watch 4242 --auto"},
      {"see which call stacks grow", "plateau watch 4242 --heap -o night.plateau --for 10m"},
      {"every training job of a node, into a database",
       "plateau watch --all --push http://prometheus:9090"},
  };
  verb.exits = verdict_exits();
  verb.run = run_watch;
  return verb;
}

}  // namespace plateau
