// SPDX-License-Identifier: Apache-2.0
// The collection is a line of Python that the process runs itself (python_line.h). It tells how
// many objects were found through a file in memory of ours, where the target can see our /proc.
#include "inject/experiment.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <iterator>

#include "base/fd.h"
#include "base/files.h"
#include "base/proc_fields.h"
#include "base/text.h"
#include "base/units.h"
#include "inject/python_line.h"
#include "inject/safe_point.h"

namespace plateau {
namespace {

constexpr double kLeastChangeMb = 1.0;
constexpr double kLeastChangeShare = 0.02;
double change_mb(const std::optional<uint64_t>& before, const std::optional<uint64_t>& after) {
  if (!before || !after) return 0;
  return (static_cast<double>(*before) - static_cast<double>(*after)) / kBytesPerMb;
}

std::string collecting_line(const std::string& result_path) {
  std::string body = " import gc\n n = gc.collect()\n";
  if (!result_path.empty())
    body += fmt::format(" with open('{}', 'w') as f: f.write(str(n))\n", result_path);
  return quiet_python(body);
}

// A file in memory that the target can open by the path; no path if it cannot.
struct ResultFile {
  Fd file;
  std::string path;
};
ResultFile make_result_file(pid_t pid) {
  ResultFile result{.file = Fd(::memfd_create("plateau-gc", MFD_CLOEXEC))};
  const TargetFacts facts = look_at_target(pid);
  struct stat ours = {};
  struct stat theirs = {};
  const bool same_files = ::stat("/proc/self/ns/mnt", &ours) == 0 &&
                          ::stat(fmt::format("/proc/{}/ns/mnt", pid).c_str(), &theirs) == 0 &&
                          ours.st_ino == theirs.st_ino;
  if (result.file && facts.same_pid_namespace && same_files && facts.same_user) {
    result.path = fmt::format("/proc/{}/fd/{}", ::getpid(), result.file.get());
  }
  return result;
}

std::optional<int64_t> read_result(const ResultFile& result) {
  std::array<char, 32> text = {};
  const ssize_t count = ::pread(result.file.get(), text.data(), text.size(), 0);
  if (count <= 0) return std::nullopt;
  return parse_int(std::string_view(text.data(), static_cast<size_t>(count)));
}

class Trial {
 public:
  Trial(pid_t pid, const ExperimentOptions& options, AllocatorDesk desk)
      : pid_(pid), options_(options), desk_(std::move(desk)) {}

  Result<ExperimentOutcome> trim() {
    outcome_.kind = Experiment::trim;
    outcome_.action = desk_.release_words;
    Result<SafePoint> point = reach();
    if (!point.ok()) return point.error();
    if (const Result<void> measured = measure(point.value(), outcome_.before); !measured)
      return measured.error();
    const auto begun = TraceClock::now();
    const Result<uint64_t> released = release_at(point.value(), desk_);
    if (!released.ok()) return released.error();
    took_since(begun);
    if (const Result<void> measured = measure(point.value(), outcome_.after); !measured)
      return measured.error();
    outcome_.stopped_s += point.value().stopped_s();
    return judged();
  }

  Result<ExperimentOutcome> collect(const PythonDesk& python) {
    outcome_.kind = Experiment::gc;
    outcome_.action = "gc.collect()";
    const ResultFile result = make_result_file(pid_);
    const Result<uint64_t> post = queue(python, result.path);
    if (!post.ok()) return post.error();
    const auto begun = TraceClock::now();
    const bool done = await_python_line(pid_, post.value(), options_.collect_timeout_s);
    took_since(begun);
    if (!done && !look_at_target(pid_).exists) {
      return Error{Error::Kind::not_found, fmt::format("process {} has ended", pid_)};
    }
    Result<SafePoint> point = reach();
    if (!point.ok()) return point.error();
    if (const Result<void> measured = measure(point.value(), outcome_.after); !measured)
      return measured.error();
    if (done) (void)point.value().unkeep(post.value(), kPythonPostBytes);
    outcome_.stopped_s += point.value().stopped_s();
    if (!done) {
      outcome_.finding = TrialResult::pending;
      outcome_.notes.emplace_back(
          "Python's main thread has run no bytecode meanwhile; the collection is queued and runs "
          "when it does, and a page of 4 KB stays mapped for it");
      return outcome_;
    }
    outcome_.collected = read_result(result);
    return judged();
  }

 private:
  Result<SafePoint> reach() {
    Result<SafePoint> point = SafePoint::reach(pid_, options_.inject);
    if (point.ok() && outcome_.how.empty()) outcome_.how = point.value().how();
    return point;
  }

  void took_since(TraceClock::time_point begun) {
    outcome_.took_s = std::chrono::duration<double>(TraceClock::now() - begun).count();
  }

  Result<void> measure(SafePoint& point, MemoryFigures& figures) {
    const auto resident = read_resident_figures(pid_);
    if (!resident) return Error{Error::Kind::not_found, fmt::format("process {} has ended", pid_)};
    figures.resident = *resident;
    Result<AllocatorFigures> asked = ask_at(point, desk_);
    if (!asked.ok()) return asked.error();
    figures.allocator = std::move(asked.value());
    return {};
  }

  // Puts both calls on Python's list; the address of what they use.
  Result<uint64_t> queue(const PythonDesk& python, const std::string& result_path) {
    Result<SafePoint> point = reach();
    if (!point.ok()) return point.error();
    if (const Result<void> measured = measure(point.value(), outcome_.before); !measured)
      return measured.error();
    Result<uint64_t> kept = queue_python_line(point.value(), python, collecting_line(result_path));
    if (!kept.ok()) return kept.error();
    outcome_.stopped_s += point.value().stopped_s();
    return kept;
  }

  Result<ExperimentOutcome> judged() {
    outcome_.finding =
        judge_experiment(outcome_.kind, outcome_.before, outcome_.after, outcome_.collected);
    if (desk_.family == AllocatorFamily::mimalloc) {
      outcome_.notes.emplace_back(
          "mimalloc collects the heap of the calling thread only and does not tell what is in use");
    }
    return outcome_;
  }

  pid_t pid_;
  ExperimentOptions options_;
  AllocatorDesk desk_;
  ExperimentOutcome outcome_;
};

}  // namespace

std::string_view finding_name(TrialResult finding) {
  constexpr std::array<std::string_view, 4> kNames = {"retention", "cycles", "neither", "pending"};
  return kNames[static_cast<size_t>(finding)];
}

std::optional<ResidentFigures> read_resident_figures(pid_t pid) {
  const std::string status = text_of_file(fmt::format("/proc/{}/status", pid));
  if (field_of(status, "VmRSS").empty()) return std::nullopt;
  const auto bytes = [&](std::string_view key) { return number_field(status, key) * 1024; };
  return ResidentFigures{.rss = bytes("VmRSS"),
                         .anonymous = bytes("RssAnon"),
                         .file = bytes("RssFile"),
                         .shared = bytes("RssShmem")};
}

TrialResult judge_experiment(Experiment kind, const MemoryFigures& before,
                             const MemoryFigures& after, std::optional<int64_t> collected) {
  const double rss_before = static_cast<double>(before.resident.rss) / kBytesPerMb;
  const double least = std::max(kLeastChangeMb, rss_before * kLeastChangeShare);
  const double rss_fell = change_mb(before.resident.rss, after.resident.rss);
  const double in_use_fell = change_mb(before.allocator.in_use, after.allocator.in_use);
  if (kind == Experiment::trim) {
    // In use must have stayed: what the program itself freed meanwhile proves nothing.
    return rss_fell >= least && in_use_fell < rss_fell / 2 ? TrialResult::retention
                                                           : TrialResult::neither;
  }
  // Large objects go back to the kernel at once, small ones to the allocator or Python's arenas.
  const bool fell = rss_fell >= least || in_use_fell >= least;
  return fell && collected.value_or(1) > 0 ? TrialResult::cycles : TrialResult::neither;
}

Result<ExperimentPlan> plan_experiment(pid_t pid, Experiment kind) {
  if (const auto checked = check_enterable(pid, look_at_target(pid)); !checked) {
    return checked.error();
  }
  const Result<AllocatorDesk> desk = find_desk(pid);
  if (!desk.ok()) return desk.error();
  ExperimentPlan plan{.kind = kind,
                      .action = desk.value().release_words,
                      .allocator = std::string(allocator_name(desk.value().family))};
  if (kind == Experiment::trim) {
    if (desk.value().release != 0) return plan;
    return Error{Error::Kind::not_found,
                 fmt::format("the allocator of process {} has no function known to us that gives "
                             "memory back",
                             pid)};
  }
  const Result<PythonDesk> python = find_python(pid);
  if (!python.ok()) return python.error();
  plan.action = "gc.collect()";
  plan.python = python.value().object;
  return plan;
}

Result<ExperimentOutcome> run_experiment(pid_t pid, Experiment kind,
                                         const ExperimentOptions& options) {
  const Result<ExperimentPlan> plan = plan_experiment(pid, kind);
  if (!plan.ok()) return plan.error();
  Result<AllocatorDesk> desk = find_desk(pid);
  if (!desk.ok()) return desk.error();
  Trial trial(pid, options, std::move(desk.value()));
  if (kind == Experiment::trim) return trial.trim();
  const Result<PythonDesk> python = find_python(pid);
  if (!python.ok()) return python.error();
  return trial.collect(python.value());
}

}  // namespace plateau
