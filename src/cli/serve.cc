// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <optional>

#include "base/pid.h"
#include "cli/exit_code.h"
#include "cli/pid_recording.h"
#include "cli/serve_address.h"
#include "cli/shared_options.h"
#include "cli/verbs.h"
#include "session/signals.h"

namespace plateau {
namespace {

Options own_options() {
  return grouped(
      "Where",
      {option(
           "listen", Takes::text, "ADDR:PORT",
           "Address to listen on (default 127.0.0.1:7528, or a free port if that is taken). Port 0 "
           "picks any free port. An address that other machines can reach requires a token."),
       option(
           "token", Takes::text, "TEXT",
           "Token that clients must present (default: PLATEAU_TOKEN; without it, a random one is "
           "generated and printed if other machines can reach the address). Options are visible "
           "in the process list; the variable is not.")});
}

// What is served, and the recorders that must run for it.
struct Targets {
  std::vector<std::string> paths;
  std::deque<PidRecorder> recorders;
};

std::optional<Error> add_pid(pid_t pid, const Context& given, Targets& targets, Output& out) {
  if (const std::optional<std::string> file = recording_of_pid(pid)) {
    out.complain("serve",
                 fmt::format("process {} is being recorded already: following {}", pid, *file));
    targets.paths.push_back(*file);
    return std::nullopt;
  }
  Result<PidRecorder> recorder = PidRecorder::start(pid, given);
  if (!recorder) return recorder.error();
  out.complain("serve", fmt::format("recording the job of process {} for as long as this serves; "
                                    "'plateau watch {} -o FILE' would keep the recording",
                                    pid, pid));
  targets.paths.push_back(recorder.value().directory());
  targets.recorders.push_back(std::move(recorder.value()));
  return std::nullopt;
}

std::optional<Error> add_target(const std::string& word, const Context& given, Targets& targets,
                                Output& out) {
  if (const std::optional<pid_t> pid = parse_pid(word)) return add_pid(*pid, given, targets, out);
  struct stat status = {};
  if (stat(word.c_str(), &status) != 0) {
    return Error{Error::Kind::not_found, fmt::format("{}: {}", word, strerror(errno))};
  }
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    return usage_error(word + " is neither a file nor a directory; a pipe cannot be read again");
  }
  targets.paths.push_back(word);
  return std::nullopt;
}

Result<Targets> targets_of(const Invocation& invocation, const Context& given) {
  std::vector<std::string> words = invocation.arguments.positionals;
  if (words.empty()) words.emplace_back(".");
  Targets targets;
  for (const std::string& word : words) {
    if (std::optional<Error> error = add_target(word, given, targets, invocation.out)) {
      return *error;
    }
  }
  return targets;
}

bool is_ignored(int number) {
  struct sigaction now = {};
  return sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

int serve(const Invocation& invocation, const ServeOptions& options) {
  const bool chosen = invocation.arguments.has("listen");
  Result<StartedServer> started = start_server(options, chosen);
  if (!started) return trouble(invocation, started.error().message);
  if (started.value().moved) {
    invocation.out.complain("serve", fmt::format("port {} is taken; this one is free", kServePort));
  }
  invocation.out.print(started.value().server.url() + "\n");
  invocation.out.flush();
  std::optional<SignalReader> signals;
  // Under nohup a hang-up is to be ignored; reading signals would take it all the same.
  if (is_ignored(SIGHUP)) {
    signals.emplace(std::initializer_list<int>{SIGINT, SIGTERM});
  } else {
    signals.emplace(std::initializer_list<int>{SIGINT, SIGTERM, SIGHUP});
  }
  started.value().server.run(signals->fd());
  signals->read_all();  // One that is left would end us once it is no longer held back.
  return kExitFine;
}

int run_serve(const Invocation& invocation) {
  Result<ServeOptions> options = serve_at(invocation.arguments.text("listen").value_or(""),
                                          invocation.arguments.text("token"));
  if (!options) return misused(invocation, options.error());
  options.value().given = given_facts(invocation.arguments);
  const Result<Targets> targets = targets_of(invocation, options.value().given);
  if (!targets) return trouble(invocation, targets.error().message);
  options.value().paths = targets.value().paths;
  return serve(invocation, options.value());
}

}  // namespace

Verb serve_verb() {
  Verb verb;
  verb.name = "serve";
  verb.summary = "show runs live in a browser; verdicts and metrics over HTTP";
  verb.description = {
      "Prints an address; open it in a browser. The page shows the verdict, the charts and the "
      "causes of a run, and follows it while it grows. With several runs, or a directory, it also "
      "lists them.",
      "PID is any process of a job: if a running plateau records it, that recording is followed; "
      "otherwise the job is watched while the server runs. FILE is a recording, or any log that "
      "'plateau judge' reads. DIR is a directory: its *.plateau files, including new ones as they "
      "appear (default: the current directory). Write ./4242 for a file whose name is a number.",
      "The server is read-only. By default only this machine can connect; from another one, use "
      "'ssh -L 7528:127.0.0.1:7528 HOST'. An address that other machines can reach requires a "
      "token, which is part of the printed address.",
      "For programs: /api/verdict is the JSON of 'plateau judge --json', /api/runs lists the runs, "
      "/metrics is for Prometheus, /healthz returns ok. docs/serve.md has the details. Ctrl-C "
      "ends the server."};
  verb.positional = {.placeholder = "PID|FILE|DIR",
                     .help = "What to serve (default: the recordings of the current directory).",
                     .takes = Takes::file,
                     .required = false,
                     .many = true};
  verb.options = together({own_options(), context_options()});
  verb.examples = {
      {"look at all recordings here", "plateau serve"},
      {"watch a running job", "plateau serve 4242"},
      {"one recording, with the limit it must fit in", "plateau serve run.plateau --limit 20GB"},
      {"for the team, with a token of your own",
       "PLATEAU_TOKEN=$(openssl rand -hex 16) plateau serve runs/ --listen 0.0.0.0:7528"},
      {"the verdict for a script", "curl -s http://127.0.0.1:7528/api/verdict"},
  };
  verb.exits = {{"0", "ended by Ctrl-C, SIGTERM or SIGHUP"},
                {"2", "wrong usage, nothing to serve, or the address is not available"}};
  verb.run = run_serve;
  return verb;
}

}  // namespace plateau
