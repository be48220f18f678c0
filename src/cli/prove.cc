// SPDX-License-Identifier: Apache-2.0
// The deciding experiment, run by itself: the verb. What is dealt inside the job is the module's
// (clients/auto/plateau_auto/replay.py), what follows from the blocks src/prove's.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "base/clock.h"
#include "base/fd.h"
#include "cli/exit_code.h"
#include "cli/prove_holders.h"
#include "cli/prove_request.h"
#include "cli/prove_words.h"
#include "cli/verbs.h"
#include "command/screen.h"
#include "prove/server_trial.h"
#include "prove/trial.h"
#include "session/supervisor.h"

namespace plateau {
namespace {

// What the job prints goes to standard error meanwhile, so that the answer on standard output
// stands alone; with --quiet it goes nowhere.
class OutputAside {
 public:
  OutputAside(Output& out, bool quiet) : out_(out) {
    out_.flush();
    saved_ = Fd(dup(STDOUT_FILENO));
    const Fd nowhere(quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1);
    dup2(quiet ? nowhere.get() : STDERR_FILENO, STDOUT_FILENO);
  }
  ~OutputAside() {
    if (saved_) dup2(saved_.get(), STDOUT_FILENO);
  }
  OutputAside(const OutputAside&) = delete;
  OutputAside& operator=(const OutputAside&) = delete;

 private:
  Output& out_;
  Fd saved_;
};

std::string wishes_of(const ProveRequest& request, const Arm* arm, const std::string& heard) {
  std::string text = fmt::format("PLATEAU_PROVE=steps={}", request.steps);
  const ChosenContrast& contrast = request.contrast;
  if (!contrast.name.empty()) {
    text += fmt::format(";contrast={}", contrast.arms.empty() ? contrast.name : "none");
  }
  if (arm != nullptr && !arm->wishes.empty()) text += ";" + arm->wishes;
  if (arm == nullptr && !heard.empty()) text += ";heard=" + heard;
  return text;
}

// One run of the job, up to where enough is known.
Result<ProveReport> run_once(const ProveRequest& request, const Arm* arm, Output& out) {
  SupervisorOptions job = request.job;
  ProveHolders holders;
  job.environment.push_back(wishes_of(request, arm, holders.heard_path()));
  if (arm != nullptr) {
    job.environment.insert(job.environment.end(), arm->environment.begin(), arm->environment.end());
  }
  ProveTrial trial(!request.contrast.leaves_out.empty());
  // Where arms are runs of their own, none of them can decide alone.
  const bool alone = arm == nullptr;
  const bool tells = stderr_is_terminal() && !request.json;
  std::string told;
  job.hear = [&](const StepWords& words) {
    trial.hear(words);
    if (trial.begun() && !holders.begun() && alone) holders.begin(words.pid, trial.last_step());
    if (alone && (trial.enough() || trial.over())) holders.end(trial.last_step());
    holders.heard(trial.last_step());
    const std::string progress = tells ? trial.progress(request.steps) : "";
    const std::string block = progress.substr(0, progress.find(','));
    if (block.empty() || block == told) return;
    told = block;
    out.complain("prove", progress);
  };
  job.enough = [&] { return alone ? trial.enough() : trial.over(); };
  job.say = [&out](const std::string& text) { out.complain("prove", text); };
  const Supervised supervised = supervise(job);
  if (!supervised.outcome) return supervised.failure.error;
  const JobOutcome& outcome = *supervised.outcome;
  return ProveReport{trial.result(),
                     outcome.elapsed_s,
                     0,
                     outcome.had_enough,
                     outcome.exit_code > 128 ? fmt::format("signal {}", outcome.exit_code - 128)
                                             : fmt::format("exit code {}", outcome.exit_code),
                     holders.growth(),
                     holders.trouble()};
}

// Two runs: the blocks of the first are those without the factor, those of the second with it.
Result<ProveReport> run_arms(const ProveRequest& request, Output& out) {
  Result<ProveReport> first = run_once(request, &request.contrast.arms[0], out);
  if (!first || !first.value().result.design) return first;
  Result<ProveReport> second = run_once(request, &request.contrast.arms[1], out);
  if (!second || !second.value().result.design) return second;
  ProveReport report = second.value();
  report.other_batch = first.value().result.design->batch;
  std::vector<BatchBlock> blocks = first.value().result.blocks;
  for (BatchBlock& block : blocks) block.kind = 'A';
  for (BatchBlock block : report.result.blocks) {
    block.kind = 'B';
    blocks.push_back(block);
  }
  report.result.blocks = blocks;
  report.result.odds = growth_odds(blocks);
  report.result.proved = proved_by(report.result.odds, kFinalShare);
  report.result.steps += first.value().result.steps;
  report.seconds += first.value().seconds;
  return report;
}

Result<ProveReport> run_server(const ProveRequest& request, Output& out) {
  ServerTrialOptions options;
  options.command = request.job.command;
  options.same = request.repeat;
  options.other = !request.other.empty()                            ? request.other
                  : request.repeat.find("{i}") != std::string::npos ? request.repeat
                                                                    : "";
  options.requests = request.requests;
  if (stderr_is_terminal() && !request.json) {
    options.progress = [&out](const std::string& text) { out.complain("prove", text); };
  }
  const double start_s = monotonic_now_s();
  const Result<ProveResult> result = run_server_trial(options);
  if (!result) return result.error();
  return ProveReport{result.value(), monotonic_now_s() - start_s, 0, true, "", {}, ""};
}

int exit_code_for(const ProveResult& result) {
  switch (result.proved) {
    case Proved::level:
    case Proved::per_example:
      return kExitFine;
    case Proved::per_step:
      return kExitLeak;
    case Proved::undecided:
      break;
  }
  return kExitUndecided;
}

int run_prove(const Invocation& invocation) {
  const Result<ProveRequest> asked = prove_request(invocation.arguments);
  if (!asked) return misused(invocation, asked.error());
  const ProveRequest& request = asked.value();
  Output& out = invocation.out;
  unsetenv("PLATEAU_AUTO");  // Who asks for the experiment wants the module that runs it.
  fill_standard_descriptors();
  out.complain("prove", intention_of(request));
  Result<ProveReport> report = [&] {
    const OutputAside aside(out, request.quiet);
    if (!request.repeat.empty()) return run_server(request, out);
    return request.contrast.arms.empty() ? run_once(request, nullptr, out) : run_arms(request, out);
  }();
  if (!report) return trouble(invocation, report.error().message);
  // From here on the job is over.
  const std::string nothing = nothing_proved(report.value(), request);
  if (!nothing.empty()) return trouble(invocation, nothing);
  out.print(request.json ? prove_json(report.value(), request)
                         : prove_text(report.value(), request));
  return exit_code_for(report.value().result);
}

}  // namespace

Verb prove_verb() {
  Verb verb;
  verb.name = "prove";
  verb.summary = "run the experiment that tells a cache from a leak";
  verb.description = {
      "Runs COMMAND, a Python job that trains with torch, for a short while: after a warm-up its "
      "training loader is made to serve K new batches, then the same K again, then K new ones, "
      "and so on. Memory that grows on new batches only is kept per example: a cache, which ends "
      "with the data. Memory that grows on repeated ones too is kept per step: a leak. The job "
      "needs no changes.",
      "The job is ended as soon as the odds are 99 to 1, or after --steps batches. Its data come "
      "in a different order, so do not keep anything from such a run: checkpoints are not written "
      "(torch.save, safetensors, Trainer, Lightning), but logs and other files that the job opens "
      "itself are. The job's output goes to standard error.",
      "With --contrast one factor is varied instead, to see whether growth depends on it. With "
      "--repeat a server gets the same request and new ones in turn. docs/prove.md has the design "
      "and what it cannot see."};
  verb.positional = {.placeholder = "COMMAND",
                     .help = "The job, with its arguments.",
                     .takes = Takes::command,
                     .required = true,
                     .many = true};
  verb.options = prove_options();
  verb.examples = {
      {"a cache or a leak?", "plateau prove -- python train.py"},
      {"for a script", "plateau prove --json --quiet -- python train.py | jq .proved"},
      {"is it cyclic garbage?", "plateau prove --contrast gc -- python train.py"},
      {"do the workers matter?", "plateau prove --contrast workers=0,2 -- python train.py"},
      {"a server: the same request and new ones",
       "plateau prove --repeat 'curl -s localhost:8000/item/{i}' -- python server.py"},
  };
  verb.exits = {{"0", "level, or kept per example: bounded"},
                {"1", "kept per step (per request): a leak"},
                {"2", "wrong usage, or the experiment could not be run"},
                {"3", "undecided"}};
  verb.run = run_prove;
  return verb;
}

}  // namespace plateau
