// SPDX-License-Identifier: Apache-2.0
// Guesses which process the user means by "my training".
//
// Every process of this user (for root: of all users) that runs Python is put to the job that it
// belongs to (root_choice.h), and each job is scored by its largest Python process:
//   its anonymous memory in MB
//   x 4 if it maps torch, CUDA, JAX or TensorFlow
//   x 1.1 for each Python process more in the job, up to ten.
// A job at half the score of the best or above is "about equal"; then the user has to choose.
// Worked number: a notebook of 900 MB without torch scores 900; a trainer of 700 MB with torch and
// four workers scores 700 x 4 x 1.1^4 = 4100: it is the trainer.
//
// Blind spot: a trainer in another language is not found; it has to be named by pid.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "base/files.h"
#include "base/units.h"
#include "probe/proc_dir.h"
#include "probe/proc_files.h"
#include "probe/program.h"
#include "probe/root_choice.h"
#include "probe/sampler.h"

namespace plateau {
namespace {

constexpr auto kLibraries = std::to_array<std::string_view>(
    {"libtorch", "libcudart", "libcuda.so", "jaxlib", "libtensorflow", "/dev/nvidia"});
constexpr int64_t kWorthALookKb = int64_t{20} * 1024;
// Of TrainingSearch, between two looks at what a process maps.
constexpr double kShortestPauseS = 10;
constexpr double kLongestPauseS = 300;

struct Candidate {
  pid_t pid = 0;
  int64_t anon_kb = 0;
  std::string label;
  bool framework = false;
};

struct Job {
  ProcessKey root;
  Candidate largest;
  int processes = 0;

  [[nodiscard]] double score() const {
    const double mb = static_cast<double>(largest.anon_kb) / 1024;
    return mb * (largest.framework ? 4 : 1) * std::pow(1.1, std::min(processes - 1, 10));
  }
};

bool maps_framework(const PidDir& dir) {
  int error = 0;
  const std::string maps = dir.read_all("maps", error);
  return std::any_of(kLibraries.begin(), kLibraries.end(), [&maps](std::string_view library) {
    return maps.find(library) != std::string::npos;
  });
}

using HasFramework = std::function<bool(const PidDir&, pid_t)>;

std::optional<Candidate> consider(int proc, pid_t pid, const HasFramework& has_framework,
                                  ProcBuffer& buffer) {
  const PidDir dir(proc, pid, false);
  const ProcStatus status = parse_status(dir.read_once("status", buffer).bytes);
  if (status.anon_kb <= 0) return std::nullopt;
  const uid_t user = geteuid();
  if (user != 0 && status.uid != static_cast<int64_t>(user)) return std::nullopt;
  const SeenProgram program = describe_program(dir.read_once("cmdline", buffer).bytes, "");
  const bool works = program.python && program.kind != ProgramKind::service &&
                     program.kind != ProgramKind::helper &&
                     program.kind != ProgramKind::compile_worker;
  if (!works && program.label != "torchrun") return std::nullopt;
  Candidate candidate{.pid = pid, .anon_kb = status.anon_kb, .label = program.label};
  candidate.framework = status.anon_kb >= kWorthALookKb && has_framework(dir, pid);
  return candidate;
}

std::string listed(const std::vector<Job>& jobs, double least) {
  std::string text;
  for (const Job& job : jobs) {
    if (job.score() < least) break;
    const double mb = mb_of_kb(job.largest.anon_kb);
    text += fmt::format("{}{} ({}, {})", text.empty() ? "" : ", ", job.largest.pid,
                        job.largest.label, format_mb(mb));
  }
  return text;
}

// All jobs of this user with Python in them, the best first.
std::vector<Job> python_jobs(const ProbeOptions& options, const HasFramework& has_framework) {
  const Fd proc(open(options.proc.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ProcBuffer buffer;
  std::map<ProcessKey, Job> by_root;
  for (const pid_t pid : pids_in(options.proc)) {
    if (pid == getpid() ||
        std::find(options.exclude.begin(), options.exclude.end(), pid) != options.exclude.end()) {
      continue;
    }
    const auto candidate = consider(proc.get(), pid, has_framework, buffer);
    if (!candidate) continue;
    const auto root = choose_root(proc.get(), pid, options.exclude, false);
    if (!root.ok()) continue;
    Job& job = by_root[root.value().root];
    job.root = root.value().root;
    ++job.processes;
    const bool framework = job.largest.framework || candidate->framework;
    if (candidate->anon_kb > job.largest.anon_kb) job.largest = *candidate;
    job.largest.framework = framework;
  }
  std::vector<Job> jobs;
  jobs.reserve(by_root.size());
  for (auto& [root, job] : by_root) jobs.push_back(std::move(job));
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.score() > b.score(); });
  return jobs;
}

}  // namespace

std::vector<TrainingJob> TrainingSearch::look(double now_s) {
  std::map<pid_t, Known> still;
  const auto has_framework = [&](const PidDir& dir, pid_t pid) {
    ProcBuffer buffer;
    const std::optional<ProcStat> stat = parse_stat(dir.read_once("stat", buffer).bytes);
    const auto before = known_.find(pid);
    const bool same = stat && before != known_.end() && before->second.start == stat->start_ticks;
    Known known = same ? before->second : Known{.start = stat ? stat->start_ticks : 0};
    if (!known.framework && now_s >= known.next_s) {
      known.framework = maps_framework(dir);
      known.pause_s = std::clamp(2 * known.pause_s, kShortestPauseS, kLongestPauseS);
      known.next_s = now_s + known.pause_s;
    }
    still[pid] = known;
    return known.framework;
  };
  std::vector<TrainingJob> found;
  for (const Job& job : python_jobs(options_, has_framework)) {
    if (!job.largest.framework) continue;
    found.push_back({.root = job.root, .pid = job.largest.pid, .label = job.largest.label});
  }
  known_ = std::move(still);
  return found;
}

Result<pid_t> find_training(const ProbeOptions& options) {
  const std::vector<Job> jobs =
      python_jobs(options, [](const PidDir& dir, pid_t /*pid*/) { return maps_framework(dir); });
  if (jobs.empty()) {
    return Error{Error::Kind::not_found,
                 "no Python process of yours is running; give the pid of the job"};
  }
  const double best = jobs.front().score();
  if (jobs.size() > 1 && jobs[1].score() >= best / 2) {
    return Error{
        Error::Kind::usage,
        fmt::format("several processes may be meant: {}; give one's pid", listed(jobs, best / 2))};
  }
  return jobs.front().largest.pid;
}

}  // namespace plateau
