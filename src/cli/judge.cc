// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <map>

#include "answer/answer.h"
#include "answer/job_answer.h"
#include "answer/job_run.h"
#include "cli/ci_files.h"
#include "cli/exit_code.h"
#include "cli/follow.h"
#include "cli/input.h"
#include "cli/judge_request.h"
#include "cli/reading_file.h"
#include "cli/shared_options.h"
#include "cli/verbs.h"
#include "report/explain.h"
#include "report/json.h"
#include "report/printable.h"
#include "report/replay.h"
#include "report/terminal.h"
#include "share/markdown.h"

namespace plateau {
namespace {

// Verdicts of one run: the last is the answer; those before it are the replay, if asked for.
using Verdicts = std::vector<Verdict>;

// From here on a run is only read: facts applied, cut where the user wants to stand.
Result<std::vector<Run>> runs_to_judge(const Invocation& invocation, const JudgeRequest& request,
                                       const std::string& file) {
  std::vector<std::string> account;
  Result<std::vector<Run>> read =
      read_runs(invocation, file, &account, following_for(invocation, request, file));
  if (!read) return read;
  if (request.how_read) {
    for (const std::string& line : account) {
      if (!line.starts_with("seen: ")) invocation.out.remark(printable(line) + "\n");
    }
  }
  std::vector<Run> runs;
  for (const Run& run : read.value()) {
    Result<Run> cut = cut_run(run, request.until);
    if (!cut) return cut.error();
    if (cut.value().instants.empty()) continue;
    apply_facts(request.given, cut.value().context);
    runs.push_back(std::move(cut.value()));
  }
  if (runs.empty()) {
    return Error{Error::Kind::no_samples, file + ": no samples before the given moment"};
  }
  return runs;
}

Verdicts judge_run(const Run& run, const JudgeRequest& request) {
  Verdicts verdicts;
  if (request.replay) verdicts = replay(run, request.policy);
  if (!verdicts.empty()) verdicts.pop_back();
  verdicts.push_back(answer_run(run, {.policy = request.policy}).verdict);
  return verdicts;
}

void print_json(const Verdicts& verdicts, Output& out) {
  for (const Verdict& answer : verdicts) out.print(verdict_json(answer) + "\n");
}

void print_report(const Verdicts& verdicts, const JudgeRequest& request, Output& out) {
  const Verdict& last = verdicts.back();
  if (request.replay) {
    out.print(render_headline(last, request.view));
    out.print(render_replay(verdicts, request.view, request.every));
  } else {
    out.print(render_verdict(last, request.view));
  }
  if (request.explain) out.print(render_explain(last, request.view));
}

// Prints the runs of one file as asked; returns the verdict that counts, of the last run.
Verdict judge_runs(const std::vector<Run>& runs, const JudgeRequest& request, Output& out) {
  const bool several_files = request.files.size() > 1;
  if (several_files && !request.json && !request.quiet) {
    out.print(paint(request.view, Ink::bold, printable(runs.front().source)) + "\n");
  }
  Verdict last;
  for (size_t i = 0; i < runs.size(); ++i) {
    const bool is_last = i + 1 == runs.size();
    const Verdicts verdicts = judge_run(runs[i], request);
    if (request.json) {
      print_json(verdicts, out);
    } else if (request.quiet) {
      if (is_last) out.print(render_line(verdicts.back(), request.view));
    } else if (is_last) {
      print_report(verdicts, request, out);
    } else {
      Verdict earlier = verdicts.back();
      earlier.file.clear();  // It heads the last run's report, or is the only one.
      out.print(render_line(earlier, request.view));
    }
    if (is_last) last = verdicts.back();
  }
  return last;
}

void print_tally(const std::array<size_t, 4>& words, const JudgeRequest& request, Output& out) {
  std::vector<std::string> parts;
  for (const Word word : {Word::leak, Word::undecided, Word::warming, Word::plateau}) {
    const size_t count = words[static_cast<size_t>(word)];
    if (count > 0) parts.push_back(fmt::format("{} {}", count, word_name(word)));
  }
  out.print(fmt::format("\n{} files: {}\n", request.files.size(), fmt::join(parts, ", ")));
}

// Judges file after file. Recordings that name their job wait until all are read: those of one job
// are answered once.
class FilesJudge {
 public:
  FilesJudge(const Invocation& invocation, const JudgeRequest& request)
      : invocation_(invocation), request_(request), out_(invocation.out) {}

  int judge() {
    for (const std::string& file : request_.files) {
      if (out_.closed()) break;
      Result<std::vector<Run>> runs = runs_to_judge(invocation_, request_, file);
      if (!runs) {
        code_ = worse_exit_code(code_, trouble(invocation_, runs.error().message));
        cases_.push_back(broken_case(file, runs.error().message));
        continue;
      }
      const std::optional<Fact>& job = runs.value().back().context.job;
      if (request_.files.size() > 1 && job) {
        waiting_[job->text].push_back(std::move(runs.value()));
      } else {
        judge_file(runs.value());
      }
    }
    for (const auto& [job, files] : waiting_) judge_job(files);
    // A single answer, to one file or to one job, needs no count.
    const bool several = request_.files.size() > 1 && !one_answer_;
    if (several && told_ && !request_.json && !request_.quiet) print_tally(words_, request_, out_);
    return worse_exit_code(code_, write_ci_files(invocation_, cases_, markdown_));
  }

 private:
  void judge_job(const std::vector<std::vector<Run>>& files) {
    std::vector<Run> last;
    last.reserve(files.size());
    for (const std::vector<Run>& runs : files) last.push_back(runs.back());
    if (!is_one_job(last)) {
      for (const std::vector<Run>& runs : files) judge_file(runs);
      return;
    }
    number_ranks(last);
    const Result<Run> job = job_run(last);
    if (!job) {
      code_ = worse_exit_code(code_, trouble(invocation_, job.error().message));
      return;
    }
    begin();
    if (!request_.json && !request_.quiet) {
      out_.print(paint(request_.view, Ink::bold, printable(job.value().source)) + "\n");
    }
    Verdicts verdicts;
    if (request_.replay) verdicts = replay(job.value(), request_.policy);
    if (!verdicts.empty()) verdicts.pop_back();
    verdicts.push_back(answer_job(job.value(), last, {.policy = request_.policy}).verdict);
    if (request_.json) {
      print_json(verdicts, out_);
    } else if (request_.quiet) {
      out_.print(render_line(verdicts.back(), request_.view));
    } else {
      print_report(verdicts, request_, out_);
    }
    settle(verdicts.back(), job.value().source);
    one_answer_ = files.size() == request_.files.size();
  }

  void judge_file(const std::vector<Run>& runs) {
    begin();
    settle(judge_runs(runs, request_, out_), runs.front().source);
  }

  void begin() {
    if (told_ && !request_.json && !request_.quiet) out_.print("\n");
    told_ = true;
  }

  void settle(const Verdict& verdict, const std::string& source) {
    ++words_[static_cast<size_t>(verdict.word)];
    const int code = exit_code_for(verdict, request_.expected);
    code_ = worse_exit_code(code_, code);
    const std::vector<std::string> missing = unmet(verdict, request_.expected);
    for (const std::string& each : missing) {
      out_.complain("judge", fmt::format("{}: {}", source, each));
    }
    if (!ci_files_wanted(invocation_.arguments)) return;
    cases_.push_back(case_of(verdict, outcome_of_exit(code), missing));
    markdown_ += verdict_markdown(verdict) + "\n";
  }

  const Invocation& invocation_;
  const JudgeRequest& request_;
  Output& out_;
  std::map<std::string, std::vector<std::vector<Run>>> waiting_;  // By job.
  std::array<size_t, 4> words_ = {};
  std::vector<CiCase> cases_;  // For those who read files.
  std::string markdown_;
  int code_ = kExitFine;
  bool told_ = false;        // Something was printed.
  bool one_answer_ = false;  // All files are of one job.
};

int run_judge(const Invocation& invocation) {
  const Result<JudgeRequest> request = judge_request(invocation);
  if (!request) return misused(invocation, request.error());
  if (request.value().remember) {
    const Result<ReadingWishes> wishes = wishes_of(invocation.arguments);
    const Result<std::string> kept =
        remember_wishes(request.value().files.front(), wishes.value(),
                        invocation.arguments.text("unit").value_or(""));
    if (!kept) return trouble(invocation, kept.error().message);
    invocation.out.remark(fmt::format("remembered in {}\n", printable(kept.value())));
  }
  return FilesJudge(invocation, request.value()).judge();
}

std::vector<Example> judge_examples() {
  return {
      {"leak or plateau?", "plateau judge train.log"},
      {"add facts that the log does not have, for an earlier answer",
       "plateau judge train.log --examples 663 --batch 8 --limit 20GB"},
      {"what would it have said at step 70, and when did it know?",
       "plateau judge train.log --until-step 70 && plateau judge train.log --replay"},
      {"why not the other explanation?", "plateau judge train.log --explain"},
      {"fail a CI job unless memory is level", "plateau judge run.csv.gz --expect plateau -q"},
      {"the same, with reports for the CI system's pages",
       "plateau judge run.csv.gz --junit memory.xml --summary \"$GITHUB_STEP_SUMMARY\""},
      {"the latest run of a logger", "plateau judge wandb/latest-run && plateau judge mlruns/"},
      {"all ranks of a job: one verdict", "plateau judge rank*.plateau"},
      {"from a pipe, for a program", "kubectl logs job/train | plateau judge --json -"},
  };
}

}  // namespace

Verb judge_verb() {
  Verb verb;
  verb.name = "judge";
  verb.summary = "decide leak or plateau, and why, from any log or recording";
  verb.description = {
      "Reads steps and memory figures from whatever wrote them (any text log, CSV, "
      "JSON lines, Trainer states, mprof, psrecord, ps and nvidia-smi loops, Prometheus, "
      "TensorBoard, "
      "MLflow, Weights & Biases, CUDA memory snapshots) and answers: is it a leak, or will it "
      "plateau? Then which process grows, why, where it ends, whether it fits, and which "
      "experiment "
      "would settle it.",
      "A file or folder may hold several runs: each is judged, and the last one is the answer. "
      "With several files the exit code is the worst of them. Recordings of the ranks of one job "
      "(the same job id from torchrun, Slurm, Kubernetes, Ray or MPI, or from --job) get one "
      "common verdict: which rank or node leaks, and which node will be full first."};
  verb.positional = input_positional();
  verb.options = judge_options();
  verb.examples = judge_examples();
  verb.exits = verdict_exits();
  verb.run = run_judge;
  return verb;
}

}  // namespace plateau
