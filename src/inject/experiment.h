// SPDX-License-Identifier: Apache-2.0
// Experiments inside a running process: what would it give back if it were asked?
//
// trim: the allocator returns to the kernel what the program has freed. If resident memory falls
// and the heap in use does not, memory was retained, not leaked: the program no longer held it.
// gc: a full collection by Python's own collector, also where it is switched off. If objects are
// found and the heap in use falls, they were held by reference cycles only.
// Neither: what remains is held by live references (a leak, a cache, or data).
//
// Both change the process; they are run only when asked for by name.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inject/ask_allocator.h"
#include "inject/inject.h"

namespace plateau {

enum class Experiment : uint8_t { trim, gc };

// Resident memory of the process by kind, in bytes, from /proc/PID/status.
struct ResidentFigures {
  uint64_t rss = 0;
  uint64_t anonymous = 0;
  uint64_t file = 0;
  uint64_t shared = 0;
};
std::optional<ResidentFigures> read_resident_figures(pid_t pid);

struct MemoryFigures {
  ResidentFigures resident;
  AllocatorFigures allocator;
};

enum class TrialResult : uint8_t {
  retention,  // The allocator held memory that the program had freed.
  cycles,     // Objects were held by reference cycles only.
  neither,    // Nothing to speak of came back.
  pending,    // The collection was asked for but has not run yet.
};
std::string_view finding_name(TrialResult finding);

struct ExperimentOutcome {
  Experiment kind = Experiment::trim;
  std::string action;  // "malloc_trim(0)", "gc.collect()"
  MemoryFigures before, after;
  TrialResult finding = TrialResult::neither;
  std::optional<int64_t> collected;  // Unreachable objects that gc.collect() found.
  double took_s = 0;                 // Of the action itself.
  double stopped_s = 0;              // One thread stood still so long in all.
  std::string how;                   // Of the first safe point.
  std::vector<std::string> notes;
};

// What it would do, without touching the process: an error says why it could not.
struct ExperimentPlan {
  Experiment kind = Experiment::trim;
  std::string action;
  std::string allocator;
  std::string python;  // Of gc: the object with the interpreter.
};
Result<ExperimentPlan> plan_experiment(pid_t pid, Experiment kind);

struct ExperimentOptions {
  InjectOptions inject;
  double collect_timeout_s = 20;  // For Python to come to its collection.
};
Result<ExperimentOutcome> run_experiment(pid_t pid, Experiment kind,
                                         const ExperimentOptions& options = {});

// What the figures prove, from the figures alone: a change counts from 1 MB and 2 % of RSS on.
TrialResult judge_experiment(Experiment kind, const MemoryFigures& before,
                             const MemoryFigures& after, std::optional<int64_t> collected);

}  // namespace plateau
