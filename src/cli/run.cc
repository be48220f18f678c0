// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ctime>

#include "answer/answer.h"
#include "base/units.h"
#include "cli/census_options.h"
#include "cli/exit_code.h"
#include "cli/pusher.h"
#include "cli/run_request.h"
#include "cli/run_serve.h"
#include "cli/shared_options.h"
#include "cli/tell_options.h"
#include "cli/verbs.h"
#include "probe/launch_identity.h"
#include "report/cost.h"
#include "report/explain.h"
#include "report/json.h"
#include "report/terminal.h"
#include "session/claim.h"
#include "session/supervisor.h"

namespace plateau {
namespace {

std::string ending_sentence(const Ending& ending) {
  const std::string why = ending.text.empty() ? "" : ", " + ending.text;
  switch (ending.kind) {
    case Ending::Kind::exited:
      return fmt::format("exit code {}{}", ending.code, why);
    case Ending::Kind::signaled:
      return fmt::format("ended by signal {}{}", ending.code, why);
    case Ending::Kind::oom_killed:
      return "OOM-killed by the kernel" + why;
    default:
      return "ended" + why;
  }
}

WatchCost cost_of(const JobOutcome& outcome) {
  return {outcome.watch_cpu_s / std::max(outcome.elapsed_s, 1e-3), outcome.cost.worst_share};
}

Verdict judge_outcome(JobOutcome& outcome, const RunRequest& request) {
  apply_facts(request.job.given, outcome.run.context);
  return answer_run(outcome.run, {.policy = request.policy, .name = request.job.command.front()})
      .verdict;
}

void print_verdict(const Verdict& verdict, const JobOutcome& outcome, const RunRequest& request,
                   Output& out) {
  if (request.json) {
    out.remark(verdict_json(verdict) + "\n");
    return;
  }
  if (request.quiet) {
    out.remark(render_line(verdict, request.view));
    return;
  }
  out.remark("\n" + render_verdict(verdict, request.view));
  if (request.explain) out.remark(render_explain(verdict, request.view));
  out.remark(fmt::format("\nplateau: {}; {} sample{} in {}\nplateau: {}\n",
                         ending_sentence(outcome.ending), outcome.cost.ticks,
                         outcome.cost.ticks == 1 ? "" : "s", format_seconds(outcome.elapsed_s),
                         cost_sentence(cost_of(outcome))));
  out.remark(census_sentence(outcome.census, true));
  if (!request.job.recording_path.empty()) {
    out.remark(fmt::format("plateau: recording in {}\n", request.job.recording_path));
  }
  if (!outcome.run.heaps.empty()) {
    out.remark(
        fmt::format("plateau: 'plateau profile {}' says what grew\n", request.job.recording_path));
  }
}

bool wants_restart(const JobOutcome& outcome, size_t attempt, const RunRequest& request) {
  const bool failed = outcome.exit_code != 0 || outcome.stopped_by_limit;
  return failed && !outcome.interrupted && attempt <= request.restarts;
}

// The job's own code, unless a test was asked for: then a job that failed keeps its code, and one
// that did not takes the test's.
int final_code(const JobOutcome& outcome, const Verdict& verdict, const RunRequest& request,
               Output& out) {
  if (!request.expected.word || outcome.exit_code != 0) return outcome.exit_code;
  for (const std::string& missing : unmet(verdict, request.expected)) out.complain("run", missing);
  return exit_code_for(verdict, request.expected);
}

// Whoever is to be told while the job runs.
struct Told {
  std::optional<LiveTeller> teller;
  std::optional<LivePusher> pusher;

  [[nodiscard]] std::vector<pid_t> pids() const {
    std::vector<pid_t> all;
    if (teller) all = teller->pids();
    if (pusher) all.push_back(pusher->pid());
    return all;
  }
  void attempt_is(const SupervisorOptions& job) {
    if (teller) teller->recording_is(job.recording_path);
    if (!pusher) return;
    const std::string name =
        run_label(job.recording_path, job.command, static_cast<double>(time(nullptr)));
    pusher->run_is(name, job.recording_path);
  }
  void finish(const Verdict& verdict) {
    if (teller) teller->finish(verdict);
    if (pusher) pusher->finish(verdict);
  }
};

std::optional<Error> start_telling(RunRequest& request, Told& told) {
  if (request.tell.any()) {
    request.tell.say = request.job.say;
    Result<Teller> started = Teller::start(request.tell);
    if (!started) return started.error();
    told.teller.emplace(std::move(started.value()));
    told.teller->follow(request.job, request.policy);
  }
  if (request.push.any()) {
    Result<Pusher> started = Pusher::start(request.push, request.job.say);
    if (!started) return started.error();
    told.pusher.emplace(std::move(started.value()));
    request.job.companions.push_back(told.pusher->pid());
    told.pusher->follow(request.job, request.policy);
  }
  request.job.errands = [&told] { return told.pids(); };
  return std::nullopt;
}

int run_attempts(const Invocation& invocation, RunRequest request, const Claim& claim) {
  Output& out = invocation.out;
  const std::string first_path = request.job.recording_path;
  const bool attempt_given = request.job.given.attempt.has_value();
  request.job.say = [&out](const std::string& text) { out.complain("run", text); };
  Result<std::optional<LiveServer>> server = serve_job(request, out);
  if (!server) {
    claim.withdraw();
    return trouble(invocation, server.error().message);
  }
  if (server.value()) request.job.companions.push_back(server.value()->pid());
  Told told;
  if (const std::optional<Error> error = start_telling(request, told)) {
    claim.withdraw();
    return trouble(invocation, error->message);
  }
  for (size_t attempt = 1;; ++attempt) {
    request.job.recording_path = attempt_name(first_path, attempt);
    if (request.restarts > 0 && !attempt_given) {
      request.job.given.attempt = Fact{static_cast<double>(attempt - 1), "--restart"};
    }
    told.attempt_is(request.job);
    Supervised supervised = supervise(request.job);
    if (!supervised.outcome) {
      if (attempt == 1) claim.withdraw();
      out.complain("run", supervised.failure.error.message);
      return supervised.failure.exit_code;
    }
    JobOutcome& outcome = *supervised.outcome;
    // From here on the job is over, and its recording is only read.
    const Verdict verdict = judge_outcome(outcome, request);
    print_verdict(verdict, outcome, request, out);
    const bool again = wants_restart(outcome, attempt, request);
    if (!again) told.finish(verdict);
    if (!again && server.value()) server.value()->end();
    if (!again) {
      return final_code(outcome, verdict, request, out);
    }
    out.complain("run", fmt::format("{}; restarting it ({} of {})", ending_sentence(outcome.ending),
                                    attempt, request.restarts));
  }
}

// Settles where the recordings of all attempts go, before anything is started: the name that nobody
// chose is made free of others, one that was chosen must not hold anything.
Result<Claim> settle_names(RunRequest& request) {
  if (request.default_name) {
    // All ranks of a job may start in one folder in the same second.
    const std::optional<Fact> rank = launch_identity().rank;
    Result<Claim> claim = Claim::on_free(default_recording_name(
        request.job.command, static_cast<int64_t>(time(nullptr)),
        rank ? std::optional(static_cast<int64_t>(rank->value)) : std::nullopt));
    if (!claim) {
      return Error{
          claim.error().kind,
          claim.error().message + "; -o FILE puts it elsewhere, --no-recording keeps none"};
    }
    request.job.recording_path = claim.value().path();
    return claim;
  }
  for (size_t attempt = 1; attempt <= request.restarts + 1; ++attempt) {
    const std::string path = attempt_name(request.job.recording_path, attempt);
    const std::optional<Error> held = holds_something(path);
    if (held && !request.job.replace_recording) return *held;
  }
  return Claim::on("");
}

int run_run(const Invocation& invocation) {
  Result<RunRequest> request = run_request(invocation.arguments);
  if (!request) return misused(invocation, request.error());
  const Result<Claim> claim = settle_names(request.value());
  if (!claim) return trouble(invocation, claim.error().message);
  return run_attempts(invocation, std::move(request.value()), claim.value());
}

}  // namespace

Verb run_verb() {
  Verb verb;
  verb.name = "run";
  verb.summary = "start a job, watch its process tree, give the verdict when it ends";
  verb.description = {
      "Runs COMMAND with its output untouched and its exit code passed on, and watches the memory "
      "of every process it starts. When it ends, the verdict is printed on standard error: leak or "
      "plateau, which process, why, and what to do. 'plateau judge FILE' judges the recording "
      "again. "
      "COMMAND may be a launcher (torchrun, srun, mpirun), or a launcher may start plateau for "
      "each rank; 'plateau judge *.plateau' then gives one verdict on all ranks of the job.",
      "Steps and epochs are read from the training framework in Python jobs, from the clients in "
      "clients/ (which send them to PLATEAU_SOCKET), or from what the job prints: 'Step 120', "
      "progress bars, Trainer logs. Without any of these, growth is judged over time.",
      "With --heap the job loads a small tracer that samples its allocations; 'plateau profile "
      "FILE' then shows which call stacks grew. Statically linked and setuid programs cannot load "
      "it.",
      "Watching costs little: small files are read a few times a second, and page-table walks "
      "take at most 0.2 % of each process's time, plus a first look of 20 ms. If plateau is "
      "killed, the job keeps running."};
  verb.positional = {.placeholder = "COMMAND",
                     .help = "The program to run, with its arguments.",
                     .takes = Takes::command,
                     .required = true,
                     .many = true};
  verb.options = run_options();
  verb.examples = {
      {"watch a training run", "plateau run -- python train.py --epochs 3"},
      {"see which call stacks grow", "plateau run --heap -- python train.py"},
      {"give facts that it cannot know, and the memory limit",
       "plateau run --examples 663 --batch 8 --limit 20GB -- python train.py"},
      {"look at it in a browser while it runs", "plateau run --serve -- python train.py"},
      {"checkpoint and stop before the OOM killer strikes, then restart and resume",
       "plateau run --limit 20GB --on-limit checkpoint --restart 3 -- python train.py"},
      {"post to a chat when the verdict changes, and draw memory beside the loss",
       "plateau run --on-verdict @hook.txt --tensorboard runs -- python train.py"},
      {"each rank of a job; then 'plateau judge *.plateau'",
       "torchrun --nproc-per-node 8 --no-python plateau run -- python train.py"},
      {"send its memory and verdict to a database, for dashboards and alerts",
       "plateau run --push http://prometheus:9090 -- python train.py"},
      {"a CI test: level from step 90 on, within 500 MB",
       "plateau run --expect plateau --settle-by 90 --spread 500MB -- python train.py"},
  };
  verb.exits = {{"0-255", "the command's own; 128 + N if signal N ended it"},
                {"126, 127", "the command cannot be executed, or is not found"},
                {"2", "wrong usage, or the recording cannot be written"},
                {"0, 1, 3", "with --expect, if the command succeeded: met, not met, undecided"}};
  verb.run = run_run;
  return verb;
}

}  // namespace plateau
